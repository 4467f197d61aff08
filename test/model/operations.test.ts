import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { OPERATIONS } from "./operations.ts";

/** Operations that the model does not have yet. */
const MISSING = [
  /calls?(?!s)|call_metrics|participant|egress|event|webhook|access_log|usage|platform GET \/invites$|GET \/organizations$/,
];

const operationsOf = (api: string) => {
  const { paths } = JSON.parse(readFileSync(`dist/public/api/${api}/openapi.json`, "utf8")) as {
    paths: Record<string, object>;
  };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${api} ${method.toUpperCase()} ${path}`),
  );
};

it("The model has every operation of the published documents, and no other", () => {
  const published = [...operationsOf("external"), ...operationsOf("platform")];
  const expected = published.filter((name) => !MISSING.some((missing) => missing.test(name)));
  expect(Object.keys(OPERATIONS).sort()).toEqual(expected.sort());
});
