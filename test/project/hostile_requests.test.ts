import { it } from "vitest";
import { expectBadRequestsRefused } from "./support/hostile_processes.ts";

it("None of 1,000 bad requests is answered with 5xx, changes anything when it is refused, or takes memory for good", () => {
  expectBadRequestsRefused(1000, ["200", "400", "401", "404", "422"]);
});
