import { expect, it } from "vitest";
import { expectBadRequestsRefused, runInOwnProcess } from "./support/hostile_processes.ts";

it("The largest and most expensive bodies of every route are answered within the memory of a Worker", () => {
  const { stdout, ...result } = runInOwnProcess(128, "send_hostile_bodies.ts");
  const last = stdout.trim().split("\n").slice(-2).join("\n");
  expect(result, `The last body was ${last}`).toEqual({ status: 0, stderr: "" });
});

it("No bad request of 20,000 is answered with 5xx, changes anything when it is refused, or leaks memory", () => {
  expectBadRequestsRefused(20_000, ["200", "201", "204", "400", "401", "404", "413", "422"]);
});
