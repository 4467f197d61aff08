import { it } from "vitest";
import { expectBadRequestsRefused } from "./support/hostile_processes.ts";

it("No bad request of 1,000 is answered with 5xx, changes anything when it is refused, or leaks memory", () => {
  expectBadRequestsRefused(1000, ["200", "400", "401", "404", "422"]);
});
