import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EGRESS_STATUSES } from "../../src/database/enums.ts";
import { mergeEgress } from "../../src/resources/egresses/egresses.merge.ts";
import type { Egress, EgressReport } from "../../src/resources/egresses/egresses.schemas.ts";
import { EGRESS_SILENCE } from "../../src/tuning.ts";
import { eachReport, refusalOf } from "./support/merging.ts";

const starting: Egress = {
  id: 5,
  organization_id: 1,
  call_id: 2,
  egress_id: "EG_1",
  status: "egress_starting",
  error: null,
  is_stopped: false,
  began_at: null,
  ended_at: null,
  early_ended_at: null,
  storage_key: null,
  changed_by_user_id: 3,
  deletion_due_at: null,
  deletion_requested_by: null,
  is_announced: false,
  call_ended_at: null,
  is_held: false,
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

/** What is known, but for the egress: the report is of the call, and its user is of the organization. */
const KNOWN = { organization: { id: 1, slug: "clinic" }, call: CALL, isMember: true, fileOwner: undefined };

const NOW = 50;

/** Merges a report whose user_id is of the organization, and whose call_key is the one of the call. */
const merge = (egress: Egress | undefined, report: EgressReport, now = NOW) =>
  mergeEgress({ ...KNOWN, egress, call: report.call_key ? CALL : undefined }, "EG_1", report, now) as Egress;

/** The egress after a report that changed it. */
const changed = <Row extends { status: string }>(egress: Row) => ({
  ...egress,
  updated_at: NOW,
  check_at: egress.status === "egress_ended" ? null : NOW + EGRESS_SILENCE,
});

describe("A report of an egress is refused", () => {
  const refusal = (known: Egress | undefined, report: EgressReport, references: object) =>
    refusalOf(() =>
      mergeEgress({ ...KNOWN, egress: known, isMember: false, ...references }, "EG_1", report, NOW),
    );

  const report: EgressReport = { call_key: "call", status: "egress_ended", storage_key: "clinic/b.wav" };

  it("when its file is, or was, that of another recording, whatever became of the egress", () => {
    for (const known of [undefined, starting, ended, deleted]) {
      expect(refusal(known, report, { fileOwner: "EG_2" })).toMatch(
        /storage_key: is, or was, the file of another recording/,
      );
      const own = { ...KNOWN, egress: known, fileOwner: "EG_1" };
      expect(mergeEgress(own, "EG_1", report, NOW)).toMatchObject({ storage_key: "clinic/b.wav" });
    }
  });

  it("for its call and its user, where it comes late too", () => {
    const late: EgressReport = { call_key: "call", status: "egress_starting", user_id: 9 };
    expect(refusal(ended, late, { call: undefined })).toMatch(/no call with this key/);
    expect(refusal(ended, late, { call: { id: 99 } })).toMatch(/must be the call of the first report/);
    expect(refusal(ended, late, {})).toMatch(/user_id/);
  });

  it("but not once the egress is deleted: then every report changes nothing", () => {
    const late: EgressReport = { call_key: "nowhere", status: "egress_starting", user_id: 9 };
    expect(
      mergeEgress({ ...KNOWN, egress: deleted, call: undefined, isMember: false }, "EG_1", late, NOW),
    ).toBe(deleted);
  });
});

describe("A later report of an egress", () => {
  it("clears of an ended one its error and its storage key, but not its end", () => {
    const report = { error: null, ended_at: null, is_stopped: null, storage_key: null, user_id: 3 };
    expect(merge(ended, report)).toEqual(changed({ ...ended, error: null, storage_key: null }));
  });

  it.each(["egress_starting", "egress_active", "egress_ending"] as const)(
    "that comes late fills in what is unknown of an ended one, and changes nothing else: %s",
    (status) => {
      const known = { ...ended, error: null, storage_key: null };
      const late: EgressReport = { status, is_stopped: false, ended_at: 99, user_id: 4 };
      expect(merge(known, { ...late, error: "Lost.", storage_key: "clinic/b.wav" })).toEqual(
        changed({ ...known, error: "Lost.", storage_key: "clinic/b.wav", changed_by_user_id: 4 }),
      );
      expect(merge(known, late)).toBe(known);
    },
  );

  it("that comes late changes nothing of one that goes on, but for what is unknown", () => {
    const known = { ...starting, status: "egress_ending", error: "A hiccup." };
    const late: EgressReport = { status: "egress_active", error: "Lost.", is_stopped: true, ended_at: 30 };
    expect(merge(known, late)).toBe(known);
    expect(merge(known, { ...late, storage_key: "clinic/a.wav", user_id: 3 })).toEqual(
      changed({ ...known, storage_key: "clinic/a.wav" }),
    );
  });

  it.each<EgressReport>([
    { status: "egress_ended", error: "New.", ended_at: 99, user_id: 4 },
    { status: "egress_starting", error: "New." },
    { error: null, ended_at: null, storage_key: null },
  ])("changes nothing of a deleted one: %o", (report) => {
    expect(merge(deleted, report)).toBe(deleted);
    const unknown = { ...deleted, error: null, storage_key: null };
    expect(merge(unknown, report)).toBe(unknown);
  });

  it("gives a deleted one a file that nobody knew of, and changes nothing else", () => {
    const late: EgressReport = {
      status: "egress_ended",
      error: "New.",
      ended_at: 99,
      storage_key: "clinic/b.wav",
    };
    for (const storage_key of [null, "clinic/a.wav"]) {
      const known = { ...deleted, storage_key };
      expect(merge(known, late)).toEqual({ ...known, storage_key: "clinic/b.wav" });
    }
    const known = { ...deleted, storage_key: "clinic/b.wav" };
    expect(merge(known, late)).toBe(known);
  });

  it.each([undefined, { id: 99 }])("gives it no file of another call: %o", (call) => {
    const late: EgressReport = { call_key: "other", status: "egress_ended", storage_key: "clinic/b.wav" };
    expect(mergeEgress({ ...KNOWN, egress: deleted, call }, "EG_1", late, NOW)).toBe(deleted);
  });
});

/** How far an egress has come. */
const position = ({ status }: Egress) => (EGRESS_STATUSES as readonly string[]).indexOf(status);

/** The reports in any order, each of them once or twice. */
const inAnyOrder = (reports: EgressReport[]) =>
  fc
    .subarray(reports)
    .chain((again) =>
      fc.shuffledSubarray([...reports, ...again], { minLength: reports.length + again.length }),
    );

describe("Whatever is reported of an egress, in whatever order,", () => {
  const onEachReport = eachReport<EgressReport, Egress>(
    fc.record(
      {
        call_key: fc.constant("call"),
        status: fc.constantFrom(...EGRESS_STATUSES),
        error: fc.constantFrom(null, "Lost."),
        is_stopped: fc.constantFrom(null, true, false),
        ended_at: fc.constantFrom(null, 30, 40),
        storage_key: fc.constantFrom(null, "clinic/a.wav", "clinic/b.wav"),
        user_id: fc.constantFrom(null, 3, 4),
      },
      { requiredKeys: [] },
    ),
    merge,
  );

  it("reporting twice is reporting once", () => {
    onEachReport((_, next, report, now) => expect(merge(next, report, now + 1)).toBe(next));
  });

  it("its status never goes back, and a stopped egress stays stopped", () => {
    onEachReport((known, next) => {
      if (known) expect(position(next)).toBeGreaterThanOrEqual(position(known));
      if (known?.is_stopped) expect(next.is_stopped).toBe(true);
    });
  });

  it("an ended egress is stopped, and has an end, and no other has one", () => {
    onEachReport((_, next) => {
      if (next.status === "egress_ended")
        expect(next).toMatchObject({ is_stopped: true, ended_at: expect.any(Number), early_ended_at: null });
      else expect(next.ended_at).toBeNull();
    });
  });

  it("a change is that of the user whom its report names, and of nobody else", () => {
    onEachReport((known, next, { user_id = null }) => {
      if (next !== known) expect(next.changed_by_user_id).toBe(user_id);
    });
  });

  it("the same facts lead to the same state", () => {
    const facts = { error: fc.constant("Lost."), storage_key: fc.constant("clinic/a.wav") };
    /** A report of one of its states, with what the backend may know by then. */
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

  it("it stays on its call, and was created once", () => {
    onEachReport((known, next) => {
      expect(next).toMatchObject({ organization_id: 1, call_id: 2 });
      if (known) expect(next.created_at).toBe(known.created_at);
    });
  });
});
