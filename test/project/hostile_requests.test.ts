import { expect, it } from "vitest";
import { expectBadRequestsRefused } from "./support/hostile_processes.ts";
import { documentedOperations, isOf, type JsonSchema, nodesOf } from "./support/request_schemas.ts";

const hasOwnLength = (schema: JsonSchema) =>
  schema.enum !== undefined || schema.const !== undefined || schema.format === "date";

it("Every list and every text that a request may carry has a maximum in the documents", () => {
  const inputs = documentedOperations.flatMap(({ api, method, path, parameters, body }) => {
    const of = `${method} /api/${api}${path}`;
    const schemas = [...(body ? [body.schema] : []), ...parameters.map(({ schema }) => schema)];
    return schemas.flatMap((each) => nodesOf(each).map((node) => ({ of, ...node })));
  });
  const unlimited = inputs.filter(
    ({ schema }) =>
      (isOf(schema, "array") && schema.maxItems === undefined) ||
      (isOf(schema, "string") && !hasOwnLength(schema) && schema.maxLength === undefined),
  );
  expect(inputs.length).toBeGreaterThan(100);
  expect(unlimited.map(({ of, path }) => `${of}: ${path.join(".")}`)).toEqual([]);
});

it("None of 1,000 bad requests is answered with 5xx, changes anything when it is refused, or takes memory for good", () => {
  expectBadRequestsRefused(1000, ["200", "400", "401", "404", "422"]);
});
