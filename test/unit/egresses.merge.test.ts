import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type EgressRecord, mergeEgress } from "../../src/resources/egresses/egresses.merge.ts";
import type { EgressReport } from "../../src/resources/egresses/egresses.schemas.ts";
import { eachReport, refusalOf } from "./support/merging.ts";

const starting: EgressRecord = {
  organization_id: 1,
  call_id: 2,
  status: "egress_starting",
  error: null,
  is_stopped: false,
  ended_at: null,
  storage_key: null,
  changed_by_user_id: 3,
  created_at: 10,
  updated_at: 20,
};

const ended: EgressRecord = {
  ...starting,
  status: "egress_ended",
  error: "A hiccup.",
  is_stopped: true,
  ended_at: 40,
  storage_key: "a.wav",
};

const CALL = { id: 2, organization_id: 1 };

const NOW = 50;

/** Merges a report whose user_id is of the organization, and whose call_key is the one of the call. */
const merge = (known: EgressRecord | undefined, report: EgressReport, now = NOW) =>
  mergeEgress(known, report, { call: report.call_key ? CALL : undefined, isMember: true }, now);

describe("A first report of an egress", () => {
  it("becomes the egress: it goes on where nothing else is said", () => {
    expect(merge(undefined, { call_key: "call", status: "egress_starting" })).toEqual({
      ...starting,
      changed_by_user_id: null,
      created_at: NOW,
      updated_at: NOW,
    });
  });

  it("may say everything", () => {
    const { status, error, is_stopped, ended_at, storage_key } = ended;
    const all: EgressReport = { status, error, is_stopped, ended_at, storage_key };
    expect(merge(undefined, { ...all, call_key: "call", user_id: 3 })).toEqual({
      ...ended,
      created_at: NOW,
      updated_at: NOW,
    });
  });

  it.each<[string, EgressReport, RegExp]>([
    ["no call", { status: "egress_starting" }, /call_key/],
    ["no status", { call_key: "call" }, /status/],
    ["nothing", {}, /call_key/],
  ])("is refused when it names %s", (_, report, text) => {
    expect(refusalOf(() => merge(undefined, report))).toMatch(text);
  });
});

describe("A report of an egress is refused", () => {
  const refusal = (known: EgressRecord | undefined, report: EgressReport, references: object) =>
    refusalOf(() => mergeEgress(known, report, { call: CALL, isMember: false, ...references }, NOW));

  it("when there is no call of its call_key", () => {
    for (const known of [undefined, starting, ended])
      expect(refusal(known, { call_key: "nowhere", user_id: 9 }, { call: undefined })).toMatch(
        /must name a call/,
      );
  });

  it("when it names another call", () => {
    const call = { id: 99, organization_id: 1 };
    for (const known of [starting, ended])
      expect(refusal(known, { call_key: "other", user_id: 9 }, { call })).toMatch(/another call/);
  });

  it("when its user is not of the organization", () => {
    for (const known of [undefined, starting, ended])
      expect(refusal(known, { call_key: "call", status: "egress_ended", user_id: 9 }, {})).toMatch(/user_id/);
  });

  it("for its call, but not for its user, where it is a late report of the start", () => {
    const late: EgressReport = { call_key: "call", status: "egress_starting", user_id: 9 };
    expect(refusal(ended, late, { call: undefined })).toMatch(/must name a call/);
    expect(refusal(ended, late, { call: { id: 99, organization_id: 1 } })).toMatch(/another call/);
    expect(mergeEgress(ended, late, { call: CALL, isMember: false }, NOW)).toBe(ended);
  });
});

describe("A later report of an egress", () => {
  it.each<[string, EgressReport]>([
    ["says nothing", {}],
    ["names only the call", { call_key: "call" }],
    ["names only who caused it", { user_id: 4 }],
    ["repeats the start", { call_key: "call", status: "egress_starting" }],
    [
      "says null of all that may be null",
      { error: null, is_stopped: null, ended_at: null, storage_key: null },
    ],
  ])("changes nothing where it %s", (_, report) => {
    expect(merge(starting, report)).toBe(starting);
  });

  it.each<[string, EgressReport, Partial<EgressRecord>]>([
    ["an error, of nobody", { error: "Lost." }, { error: "Lost.", changed_by_user_id: null }],
    ["an error, of somebody", { error: "Lost.", user_id: 4 }, { error: "Lost.", changed_by_user_id: 4 }],
    ["that it was stopped", { is_stopped: true, user_id: 3 }, { is_stopped: true }],
    ["a time before the end", { ended_at: 30, user_id: 3 }, { ended_at: 30 }],
    ["a storage key", { storage_key: "b.wav", user_id: 3 }, { storage_key: "b.wav" }],
    ["the end", { status: "egress_ended", user_id: 3 }, { status: "egress_ended" }],
  ])("takes in %s", (_, report, change) => {
    expect(merge(starting, report)).toEqual({ ...starting, ...change, updated_at: NOW });
  });

  it("clears with null what has not ended", () => {
    const known = { ...starting, error: "A hiccup.", ended_at: 30, storage_key: "a.wav" };
    const report = { error: null, ended_at: null, storage_key: null, user_id: 3 };
    expect(merge(known, report)).toEqual({ ...starting, updated_at: NOW });
  });

  it("clears of an ended one its error and its storage key, but not its end", () => {
    const report = { error: null, ended_at: null, is_stopped: null, storage_key: null, user_id: 3 };
    expect(merge(ended, report)).toEqual({ ...ended, error: null, storage_key: null, updated_at: NOW });
  });

  it("corrects when an ended one ended", () => {
    expect(merge(ended, { ended_at: 41, user_id: 3 })).toEqual({ ...ended, ended_at: 41, updated_at: NOW });
  });

  it.each<EgressReport>([
    { status: "egress_starting" },
    { status: "egress_starting", error: "New.", storage_key: null, ended_at: 99, user_id: 4 },
    { is_stopped: false },
    { ended_at: null },
  ])("that comes late does not move an ended one back: %o", (report) => {
    expect(merge(ended, report)).toBe(ended);
  });
});

describe("Whatever is reported of an egress, in whatever order,", () => {
  const onEachReport = eachReport<EgressReport, EgressRecord>(
    fc.record(
      {
        call_key: fc.constant("call"),
        status: fc.constantFrom("egress_starting" as const, "egress_ended" as const),
        error: fc.constantFrom(null, "Lost."),
        is_stopped: fc.constantFrom(null, true, false),
        ended_at: fc.constantFrom(null, 30, 40),
        storage_key: fc.constantFrom(null, "a.wav", "b.wav"),
        user_id: fc.constantFrom(null, 3, 4),
      },
      { requiredKeys: [] },
    ),
    merge,
  );

  it("reporting twice is reporting once", () => {
    onEachReport((_, next, report, now) => expect(merge(next, report, now + 1)).toBe(next));
  });

  it("an ended egress stays ended, and a stopped one stopped", () => {
    onEachReport((known, next) => {
      if (known?.status === "egress_ended") {
        expect(next.status).toBe("egress_ended");
        if (known.ended_at !== null) expect(next.ended_at).not.toBeNull();
      }
      if (known?.is_stopped) expect(next.is_stopped).toBe(true);
    });
  });

  it("it stays on its call, and was created once", () => {
    onEachReport((known, next) => {
      expect(next).toMatchObject({ organization_id: 1, call_id: 2 });
      if (known) expect(next.created_at).toBe(known.created_at);
    });
  });
});
