import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { documentedOperations, isOf, nodesOf } from "./support/request_schemas.ts";

it("Every list and every text that a request may carry has a maximum in the documents", () => {
  const inputs = documentedOperations.flatMap(({ door, method, path, parameters, body }) => {
    const of = `${method} /api/${door}${path}`;
    const schemas = [...(body ? [body.schema] : []), ...parameters.map(({ schema }) => schema)];
    return schemas.flatMap((each) => nodesOf(each).map((node) => ({ of, ...node })));
  });
  const unlimited = inputs.filter(
    ({ schema }) =>
      (isOf(schema, "array") && schema.maxItems === undefined) ||
      (isOf(schema, "string") && !schema.enum && schema.format !== "date" && schema.maxLength === undefined),
  );
  expect(inputs.length).toBeGreaterThan(100);
  expect(unlimited.map(({ of, path }) => `${of}: ${path.join(".")}`)).toEqual([]);
});

it("The largest and worst body of every route is refused within the memory of a Worker", {
  timeout: 300_000,
}, () => {
  const { status, stderr, stdout } = runWithMemory(128, "test/project/support/send_hostile_bodies.ts");
  const last = stdout.trim().split("\n").slice(-2).join("\n");
  expect({ status, stderr: stderr.slice(0, 3000) }, `The last body was ${last}`).toEqual({
    status: 0,
    stderr: "",
  });
});

/** Runs a script in a process of its own that ends when its heap needs more than this many megabytes. */
const runWithMemory = (megabytes: number, script: string) =>
  spawnSync(process.execPath, ["--no-warnings", "--expose-gc", `--max-old-space-size=${megabytes}`, script], {
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
