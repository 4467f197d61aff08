import { assert, integer, option, property, string } from "fast-check";
import { describe, expect, it } from "vitest";
import {
  endLane,
  isLaneOver,
  NO_ANSWER,
  NO_SUCCESS,
  nextAttemptAt,
  pausedUntil,
} from "../../../src/delivery/webhook_deliveries/webhook_deliveries.merge.ts";
import { WEBHOOK_RETRY_DELAYS } from "../../../src/lifetimes.ts";
import {
  MAX_WEBHOOK_PAUSE,
  MIN_WEBHOOK_PAUSE,
  WEBHOOK_FAILURES_IN_A_ROW,
  WEBHOOK_NUDGE_AHEAD,
} from "../../../src/tuning.ts";
import { DAY } from "../../../src/units.ts";

const NOW = Date.parse("2026-01-31T09:30:00Z");

it("nextAttemptAt returns at most a day and its jitter, whatever the receiver sends, and null after the last attempt", () => {
  expect(nextAttemptAt(WEBHOOK_RETRY_DELAYS.length + 1, "60", NOW)).toBeNull();
  assert(
    property(integer({ min: 1, max: 9 }), option(string()), (attempts, retry_after) => {
      const next = nextAttemptAt(attempts, retry_after, NOW) ?? 0;
      expect(next).toBeGreaterThan(NOW);
      expect(next).toBeLessThanOrEqual(NOW + 1.1 * DAY);
    }),
  );
});

it.each([
  ["600", 600_000],
  [new Date(NOW + 1_200_000).toUTCString(), 1_200_000],
  ["99999999999999999999", DAY],
])("nextAttemptAt waits as Retry-After: %s asks, but no longer than a day", (retry_after, wait) => {
  expect(nextAttemptAt(1, retry_after, NOW)).toBe(NOW + wait);
});

it("nextAttemptAt ignores a Retry-After that is nonsense", () => {
  expect(nextAttemptAt(1, "soon", NOW)).toBeLessThan(NOW + 6000);
});

it("pausedUntil pauses a failing endpoint for as long as it has failed, from 5 seconds to a minute", () => {
  const pause = (failingFor: number, retry_after: string | null = null) =>
    pausedUntil(NOW - failingFor, retry_after, NOW) - NOW;
  expect(pause(0)).toBe(MIN_WEBHOOK_PAUSE);
  expect(pause(20_000)).toBe(20_000);
  expect(pause(DAY)).toBe(MAX_WEBHOOK_PAUSE);
  expect(pause(0, "30")).toBe(30_000);
  expect(pause(0, "3600")).toBe(MAX_WEBHOOK_PAUSE);
});

const URL = "https://hooks.example.com/visits";

const LEASED = {
  id: 6,
  organization_id: 1,
  url: URL,
  event_types: null,
  is_active: true,
  disabled_reason: null,
  service_url: null,
  created_by_user_id: 33,
  created_at: 0,
  updated_at: 0,
  due_at: NOW,
  lease_until: NOW + 40_000,
  failing_since: null as number | null,
  repaired_at: null,
  message_at: null as number | null,
};

type Answer = number | "none";

const attemptOf = (answer: Answer, retry_after: string | null = null) => ({
  at: NOW - 1,
  response_status: answer === "none" ? null : answer,
  error: answer === "none" ? NO_ANSWER : answer < 300 ? null : NO_SUCCESS,
  retry_after,
});

function laneWith(
  answers: Answer[],
  { endpoint, due_at = null }: { endpoint?: Partial<typeof LEASED>; due_at?: number | null } = {},
) {
  const lane = { url: URL, opened_at: NOW - 20, isEmpty: answers.length === 0 };
  const attempts = answers.map((answer) => attemptOf(answer));
  return endLane({ endpoint: { ...LEASED, ...endpoint }, due_at }, lane, attempts, NOW);
}

describe("endLane", () => {
  it("counts failures from the first one after the last success", () => {
    const since = (answers: Answer[], failing_since: number | null) =>
      laneWith(answers, { endpoint: { failing_since } }).endpoint.failing_since;
    expect(since([500], null)).toBe(NOW - 1);
    expect(since([500], 7)).toBe(7);
    expect(since([500, 200], 7)).toBeNull();
    expect(since([200, 500], 7)).toBe(NOW - 1);
    expect(since([], 7)).toBe(7);
  });

  it("disables an endpoint after five days of failures", () => {
    const failingFor = (time: number) =>
      laneWith([500], { endpoint: { failing_since: NOW - time } }).endpoint;
    expect(failingFor(5 * DAY - 2)).toMatchObject({ is_active: true, disabled_reason: null });
    expect(failingFor(5 * DAY)).toMatchObject({ is_active: false, disabled_reason: "failing" });
  });

  it("keeps the missing reason of an endpoint that a client deactivated meanwhile", () => {
    const { endpoint } = laneWith([410], { endpoint: { is_active: false } });
    expect(endpoint).toMatchObject({ is_active: false, disabled_reason: null, updated_at: 0 });
  });

  it("does not blame an endpoint with a new URL for the old URL's answer", () => {
    for (const answer of [410, "none"] as const) {
      const { endpoint } = laneWith([answer], { endpoint: { url: "https://new.example.com" } });
      expect(endpoint).toMatchObject({ is_active: true, failing_since: null, lease_until: null });
    }
  });

  it("pauses an endpoint that did not answer, or that failed ten times in a row", () => {
    const left = (answers: Answer[]) => laneWith(answers).endpoint.lease_until;
    expect(left(["none"])).toBe(NOW + MIN_WEBHOOK_PAUSE);
    expect(left(["none", 200])).toBeNull();
    const failures = Array<Answer>(WEBHOOK_FAILURES_IN_A_ROW).fill(500);
    expect(left([200, ...failures])).toBe(NOW + MIN_WEBHOOK_PAUSE);
    expect(left(failures.slice(1))).toBeNull();
  });
});

describe("A lane", () => {
  it("is over if the endpoint is gone, does not answer, or asks for time", () => {
    for (const attempts of [[], [attemptOf(500)], [attemptOf(200, "60")]])
      expect(isLaneOver(attempts)).toBe(false);
    for (const last of [attemptOf(410), attemptOf("none"), attemptOf(503, "60")])
      expect(isLaneOver([last])).toBe(true);
  });

  const nudged = (due_at: number | null, message_at: number | null = null) => {
    const { nudge_at, endpoint } = laneWith([200], { due_at, endpoint: { message_at } });
    return [nudge_at, endpoint.message_at];
  };

  it("asks for a message when deliveries are due, in whole seconds, and leaves later ones to the cron", () => {
    expect(nudged(NOW - DAY)).toEqual([NOW, NOW]);
    expect(nudged(NOW + 1)).toEqual([NOW + 1000, NOW + 1000]);
    expect(nudged(NOW + WEBHOOK_NUDGE_AHEAD)).toEqual([null, null]);
    expect(nudged(null)).toEqual([null, null]);
  });

  it("asks for no message if one arrives in time", () => {
    expect(nudged(NOW + 5000, NOW + 3000)).toEqual([null, NOW + 3000]);
    expect(nudged(NOW + 5000, NOW + 5999)).toEqual([null, NOW + 5999]);
    expect(nudged(NOW + 5000, NOW + 6000)).toEqual([NOW + 5000, NOW + 5000]);
    expect(nudged(NOW, NOW)).toEqual([NOW, NOW]);
  });

  it("asks for no message if it found none of the due deliveries, because their event is deleted", () => {
    expect(laneWith([], { due_at: NOW - 30 }).nudge_at).toBeNull();
    expect(laneWith([], { due_at: NOW + 30 }).nudge_at).toBe(NOW + 1000);
  });
});
