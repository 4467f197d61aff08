import { expect, it } from "vitest";
import { MAX_SUBS_FOLLOWED } from "../../../src/limits.ts";
import { destinationOf } from "../../../src/rooms/waiting_room_subs/waiting_room_subs.merge.ts";

const longWay = (subs: number) => Array.from({ length: subs + 1 }, (_, n) => `room-${n}`);

it.each([
  ["no active sub", ["asked"], "asked"],
  ["one sub", ["asked", "sara"], "sara"],
  ["a substitute who is away too", ["asked", "sara", "tom"], "tom"],
  ["two who replace each other", ["paul", "sara", "paul"], "paul"],
  ["a way into a circle", ["asked", "sara", "tom", "sara", "tom"], "asked"],
  ["as many subs as are followed", longWay(MAX_SUBS_FOLLOWED), `room-${MAX_SUBS_FOLLOWED}`],
  ["more subs", longWay(MAX_SUBS_FOLLOWED + 1), "room-0"],
])("sends participants to the end of the way: %s", (_, way, destination) => {
  expect(destinationOf(way)).toBe(destination);
});
