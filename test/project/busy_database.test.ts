import { expect, it } from "vitest";
import { whileBusy } from "../../src/dev/busy_database.ts";

const LOCAL = { config: "wrangler.toml" };

/** Fails so often, then returns how often it ran. */
function failing(
  times: number,
  message = "Failed to get session commit token: internal error; reference = x",
) {
  let runs = 0;
  const run = () => {
    if (++runs <= times) throw new Error(message);
    return runs;
  };
  return { run, runs: () => runs };
}

it("A command tries again while a server uses the local database", () => {
  expect(whileBusy(LOCAL, failing(4).run, 0)).toBe(5);
});

it("It says what to do if the database stays busy, and fails at once for any other reason, or in production", () => {
  expect(() => whileBusy(LOCAL, failing(9).run, 0)).toThrow("Stop `npm run dev`");
  for (const [target, task] of [
    [LOCAL, failing(1, "no such table")],
    [{ ...LOCAL, remote: true }, failing(1)],
  ] as const) {
    expect(() => whileBusy(target, task.run, 0)).toThrow(/no such table|internal error/);
    expect(task.runs()).toBe(1);
  }
});
