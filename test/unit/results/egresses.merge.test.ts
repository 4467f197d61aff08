import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EGRESS_STATUSES } from "../../../src/database/enums.ts";
import { mergeEgress, NEW_EGRESS } from "../../../src/results/egresses/egresses.merge.ts";
import type { Egress, EgressReport } from "../../../src/results/egresses/egresses.schemas.ts";
import { EGRESS_SILENCE } from "../../../src/tuning.ts";
import { eachReport, refusalOf } from "../support/merging.ts";

const starting: Egress = {
  ...NEW_EGRESS,
  id: 5,
  organization_id: 1,
  call_id: 2,
  egress_id: "EG_1",
  status: "egress_starting",
  call_key: null,
  ended_at: null,
  early_ended_at: null,
  changed_by_user_id: 3,
  check_at: 20 + EGRESS_SILENCE,
  created_at: 10,
  updated_at: 20,
};

const ended: Egress = {
  ...starting,
  status: "egress_ended",
  error: "A hiccup.",
  is_stopped: true,
  ended_at: 40,
  storage_key: "clinic/a.wav",
  check_at: null,
};

const deleted: Egress = { ...ended, status: "egress_deleted" };

const CALL = { id: 2 };

/** The known state without the egress. The report is about CALL, and its user is a member of the organization. */
const KNOWN = { organization: { id: 1, slug: "clinic" }, call: CALL, isMember: true, fileOwner: undefined };

const NOW = 50;

/** Merges a report by a member of the organization. A call_key in the report is the key of CALL. */
const merge = (egress: Egress | undefined, report: EgressReport, now = NOW) =>
  mergeEgress({ ...KNOWN, egress, call: report.call_key ? CALL : undefined }, "EG_1", report, now) as Egress;

/** The egress after a report that changed it. */
const changed = <Row extends { status: string }>(egress: Row) => ({
  ...egress,
  updated_at: NOW,
  check_at: egress.status === "egress_ended" ? null : NOW + EGRESS_SILENCE,
});

describe("mergeEgress, refusing a report,", () => {
  const refusal = (known: Egress | undefined, report: EgressReport, references: object) =>
    refusalOf(() =>
      mergeEgress({ ...KNOWN, egress: known, isMember: false, ...references }, "EG_1", report, NOW),
    );

  const report: EgressReport = { call_key: "call", status: "egress_ended", storage_key: "clinic/b.wav" };

  it("refuses the file of another recording, whatever the state of the egress", () => {
    for (const known of [undefined, starting, ended, deleted]) {
      expect(refusal(known, report, { fileOwner: "EG_2" })).toMatch(
        /storage_key: is, or was, the file of another recording/,
      );
      const own = { ...KNOWN, egress: known, fileOwner: "EG_1" };
      expect(mergeEgress(own, "EG_1", report, NOW)).toMatchObject({ storage_key: "clinic/b.wav" });
    }
  });

  it("refuses the wrong call or user in a late report too", () => {
    const late: EgressReport = { call_key: "call", status: "egress_starting", user_id: 9 };
    expect(refusal(ended, late, { call: undefined })).toMatch(/no call with this key/);
    expect(refusal(ended, late, { call: { id: 99 } })).toMatch(/must be the call of the first report/);
    expect(refusal(ended, late, {})).toMatch(/user_id/);
  });

  it("ignores any report once the egress is deleted", () => {
    const late: EgressReport = { call_key: "nowhere", status: "egress_starting", user_id: 9 };
    expect(
      mergeEgress({ ...KNOWN, egress: deleted, call: undefined, isMember: false }, "EG_1", late, NOW),
    ).toBe(deleted);
  });
});

describe("mergeEgress, with a later report", () => {
  it("clears the error and the storage key of an ended egress, but not its end", () => {
    const report = { error: null, ended_at: null, is_stopped: null, storage_key: null, user_id: 3 };
    expect(merge(ended, report)).toEqual(changed({ ...ended, error: null, storage_key: null }));
  });

  it("keeps an early end until the egress has ended, unless null clears it", () => {
    const early = merge(starting, { ended_at: 30 });
    expect(early).toMatchObject({ ended_at: null });
    expect(merge(early, { status: "egress_ended" })).toMatchObject({ ended_at: 30 });
    const cleared = merge(early, { ended_at: null });
    expect(merge(cleared, { status: "egress_ended" }).ended_at).not.toBe(30);
  });

  it.each(["egress_starting", "egress_active", "egress_ending"] as const)(
    "fills in only the missing fields of an ended egress from a late report: %s",
    (status) => {
      const known = { ...ended, error: null, storage_key: null };
      const late: EgressReport = { status, is_stopped: false, ended_at: 99, user_id: 4 };
      expect(merge(known, { ...late, error: "Lost.", storage_key: "clinic/b.wav" })).toEqual(
        changed({ ...known, error: "Lost.", storage_key: "clinic/b.wav", changed_by_user_id: 4 }),
      );
      expect(merge(known, late)).toBe(known);
    },
  );

  it("fills in only the missing fields of a running egress from a late report", () => {
    const known = { ...starting, status: "egress_ending", error: "A hiccup." };
    const late: EgressReport = { status: "egress_active", error: "Lost.", is_stopped: true, ended_at: 30 };
    expect(merge(known, late)).toBe(known);
    expect(merge(known, { ...late, storage_key: "clinic/a.wav", user_id: 3 })).toEqual(
      changed({ ...known, storage_key: "clinic/a.wav" }),
    );
  });

  it("gives a deleted egress a newly reported file, and changes nothing else", () => {
    const late: EgressReport = {
      status: "egress_ended",
      error: "New.",
      ended_at: 99,
      storage_key: "clinic/b.wav",
    };
    expect(merge(deleted, { ...late, storage_key: null })).toBe(deleted);
    for (const storage_key of [null, "clinic/a.wav"]) {
      const known = { ...deleted, storage_key };
      expect(merge(known, late)).toEqual({ ...known, storage_key: "clinic/b.wav" });
    }
    const known = { ...deleted, storage_key: "clinic/b.wav" };
    expect(merge(known, late)).toBe(known);
  });

  it.each([undefined, { id: 99 }])("gives a deleted egress no file of another call: %o", (call) => {
    const late: EgressReport = { call_key: "other", status: "egress_ended", storage_key: "clinic/b.wav" };
    expect(mergeEgress({ ...KNOWN, egress: deleted, call }, "EG_1", late, NOW)).toBe(deleted);
  });
});

const position = ({ status }: Egress) => (EGRESS_STATUSES as readonly string[]).indexOf(status);

/** The reports in any order, each once or twice. */
const inAnyOrder = (reports: EgressReport[]) =>
  fc
    .subarray(reports)
    .chain((again) =>
      fc.shuffledSubarray([...reports, ...again], { minLength: reports.length + again.length }),
    );

describe("mergeEgress, for any reports in any order", () => {
  const onEachReport = eachReport<EgressReport, Egress>(
    fc.record(
      {
        call_key: fc.constant("call"),
        status: fc.constantFrom(...EGRESS_STATUSES),
        error: fc.constantFrom(null, "Lost."),
        is_stopped: fc.constantFrom(null, true, false),
        ended_at: fc.constantFrom(null, 30, 40),
        storage_key: fc.constantFrom(null, "clinic/a.wav", "clinic/b.wav"),
        started_at: fc.constantFrom(null, 31),
        duration: fc.constantFrom(null, 0, 4),
        size: fc.constantFrom(null, 0, 100),
        user_id: fc.constantFrom(null, 3, 4),
      },
      { requiredKeys: [] },
    ),
    merge,
  );

  it("changes nothing when a report is repeated", () => {
    onEachReport((_, next, report, now) => expect(merge(next, report, now + 1)).toBe(next));
  });

  it("never moves the status back, and keeps a stopped egress stopped", () => {
    onEachReport((known, next) => {
      if (known) expect(position(next)).toBeGreaterThanOrEqual(position(known));
      if (known?.is_stopped) expect(next.is_stopped).toBe(true);
    });
  });

  it("stops an ended egress and gives it, and no other, an end", () => {
    onEachReport((_, next) => {
      if (next.status === "egress_ended")
        expect(next).toMatchObject({ is_stopped: true, ended_at: expect.any(Number), early_ended_at: null });
      else expect(next.ended_at).toBeNull();
    });
  });

  it("records the user of the report that made the last change", () => {
    onEachReport((known, next, { user_id = null }) => {
      if (next !== known) expect(next.changed_by_user_id).toBe(user_id);
    });
  });

  it("reaches the same state from the same facts", () => {
    const facts = {
      error: fc.constant("Lost."),
      storage_key: fc.constant("clinic/a.wav"),
      started_at: fc.constant(35),
      duration: fc.constant(4),
      size: fc.constant(100),
    };
    /** A report of one status, with facts that the backend may know by then. */
    const reportOf = (status: EgressReport["status"], known: object = {}) =>
      fc
        .record(facts, { requiredKeys: [] })
        .map((more): EgressReport => ({ call_key: "call", status, user_id: 3, ...known, ...more }));
    const reports = fc
      .tuple(
        reportOf("egress_starting"),
        reportOf("egress_active"),
        reportOf("egress_ending", { is_stopped: true }),
        reportOf("egress_ended", { ended_at: 40 }),
      )
      .chain((each) => fc.subarray(each, { minLength: 1 }))
      .chain((some) => fc.tuple(inAnyOrder(some), inAnyOrder(some)));
    const stateAfter = (all: EgressReport[]) => {
      let known: Egress | undefined;
      for (const [now, report] of all.entries()) known = merge(known, report, now);
      return { ...known, created_at: 0, updated_at: 0, check_at: 0 };
    };
    fc.assert(
      fc.property(reports, ([one, other]) => {
        expect(stateAfter(one)).toEqual(stateAfter(other));
      }),
    );
  });

  it("keeps the egress on its call, and keeps its time of creation", () => {
    onEachReport((known, next) => {
      expect(next).toMatchObject({ organization_id: 1, call_id: 2 });
      if (known) expect(next.created_at).toBe(known.created_at);
    });
  });
});
