import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { documentedOperations, isOf, nodesOf } from "./support/request_schemas.ts";

/** Most of a minute each on a slow machine with two cores. */
const timeout = 300_000;

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

it("The largest and worst body of every route is answered within the memory of a Worker", { timeout }, () => {
  const { stdout, ...result } = run(128, "send_hostile_bodies.ts");
  const last = stdout.trim().split("\n").slice(-2).join("\n");
  expect(result, `The last body was ${last}`).toEqual({ status: 0, stderr: "" });
});

it("None of 20,000 bad requests is answered with 5xx, changes anything when it is refused, or takes memory for good", {
  timeout,
}, () => {
  const { stdout, ...result } = run(256, "send_bad_requests.ts", "20000");
  expect(result, stdout).toEqual({ status: 0, stderr: "" });
  // All kinds of answers, so it is not always the same refusal.
  expect(Object.keys(JSON.parse(stdout))).toEqual(
    expect.arrayContaining(["200", "201", "204", "400", "401", "404", "413", "415", "422"]),
  );
});

/** Runs a script in a process of its own, which ends when its heap needs more than this many megabytes. */
function run(megabytes: number, script: string, ...args: string[]) {
  const flags = ["--no-warnings", "--expose-gc", `--max-old-space-size=${megabytes}`];
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [...flags, `test/project/support/${script}`, ...args],
    { encoding: "utf8", maxBuffer: 64 * 1024 * 1024 },
  );
  return { status, stdout, stderr: stderr.slice(0, 5000) };
}
