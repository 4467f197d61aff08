import { expect, it } from "vitest";
import { EVENT_TYPE_NAMES } from "../../../src/database/enums.ts";
import { noSuchType } from "../../../src/delivery/events/events.schemas.ts";

it.each([
  ["call.end", "call.ended"],
  ["calls.*", "call.*"],
  ["transcripts.finalised", "transcript.finalized"],
  ["call_results_ready", "call.results_ready"],
  ["egress.finished", "egress.ended"],
])("an unknown type of event is refused with the three most similar ones: %j", (sent, meant) => {
  const [, types = ""] = /the most similar ones are (.*)$/.exec(noSuchType(sent, EVENT_TYPE_NAMES)) ?? [];
  expect(types.split(", ")).toContain(meant);
});

it.each(["", 7, null, {}, "x".repeat(100_000)])("three types are named for %j", (sent) => {
  expect(noSuchType(sent, EVENT_TYPE_NAMES)).toMatch(/are [a-z_.*]+, [a-z_.*]+, [a-z_.*]+$/);
});
