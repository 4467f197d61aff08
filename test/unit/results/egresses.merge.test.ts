import fc from "fast-check";
import { expect, it } from "vitest";
import { mergeEgress, NEW_EGRESS } from "../../../src/results/egresses/egresses.merge.ts";
import type { Egress, EgressReport } from "../../../src/results/egresses/egresses.schemas.ts";
import { EGRESS_SILENCE } from "../../../src/tuning.ts";
import { refusalOf } from "../support/merging.ts";

// The model compares everything that a report of an egress changes in an answer.

const ended: Egress = {
  ...NEW_EGRESS,
  id: 5,
  organization_id: 1,
  call_id: 2,
  egress_id: "EG_1",
  status: "egress_ended",
  error: "A hiccup.",
  is_stopped: true,
  call_key: null,
  ended_at: 40,
  early_ended_at: null,
  storage_key: "clinic/a.wav",
  changed_by_user_id: 3,
  created_at: 10,
  updated_at: 20,
};

const deleted: Egress = { ...ended, status: "egress_deleted" };

/** The known state without the egress. The report is about the call, and its user is a member of the organization. */
const KNOWN = {
  organization: { id: 1, slug: "clinic" },
  call: { id: 2 },
  isMember: true,
  fileOwner: undefined,
};

const merge = (egress: Egress | undefined, report: EgressReport, references: object = {}, now = 50) =>
  mergeEgress({ ...KNOWN, egress, ...references }, "EG_1", report, now) as Egress;

it("mergeEgress refuses the file of another recording, whatever the state of the egress", () => {
  const report: EgressReport = { call_key: "call", status: "egress_ended", storage_key: "clinic/b.wav" };
  for (const known of [undefined, { ...ended, status: "egress_starting" }, ended, deleted]) {
    const refusal = refusalOf(() => merge(known, report, { fileOwner: "EG_2" }));
    expect(refusal).toMatch(/storage_key: is, or was, the file of another recording/);
    expect(merge(known, report, { fileOwner: "EG_1" })).toMatchObject({ storage_key: "clinic/b.wav" });
  }
});

it("mergeEgress keeps an early end until the egress has ended, unless null clears it", () => {
  const starting = { ...ended, status: "egress_starting", ended_at: null };
  const early = merge(starting, { ended_at: 30 });
  expect(early).toMatchObject({ ended_at: null, check_at: 50 + EGRESS_SILENCE });
  expect(merge(early, { status: "egress_ended" })).toMatchObject({ ended_at: 30, early_ended_at: null });
  const cleared = merge(early, { ended_at: null });
  expect(merge(cleared, { status: "egress_ended" })).toMatchObject({ ended_at: 50, check_at: null });
});

it("mergeEgress fills in only the missing fields of an ended egress from a late report", () => {
  const known = { ...ended, error: null, started_at: null };
  const late: EgressReport = { status: "egress_ending", is_stopped: false, ended_at: 99, size: null };
  expect(merge(known, late)).toBe(known);
  const news = { error: "Lost.", started_at: 31, storage_key: "clinic/b.wav" };
  expect(merge(known, { ...late, ...news, user_id: 4 })).toEqual({
    ...known,
    error: "Lost.",
    started_at: 31,
    changed_by_user_id: 4,
    updated_at: 50,
  });
});

it("mergeEgress gives a deleted egress a newly reported file, and changes nothing else", () => {
  const late: EgressReport = { status: "egress_ended", error: "New.", ended_at: 99 };
  const withFile = { ...late, storage_key: "clinic/b.wav" };
  expect(merge(deleted, { ...late, storage_key: null })).toBe(deleted);
  for (const storage_key of [null, "clinic/a.wav"])
    expect(merge({ ...deleted, storage_key }, withFile)).toEqual({
      ...deleted,
      storage_key: "clinic/b.wav",
    });
  for (const call of [undefined, { id: 99 }])
    expect(merge(deleted, { ...withFile, call_key: "other" }, { call })).toBe(deleted);
});

/** The reports in any order, each once or twice. */
const inAnyOrder = (reports: EgressReport[]) =>
  fc
    .subarray(reports)
    .chain((again) =>
      fc.shuffledSubarray([...reports, ...again], { minLength: reports.length + again.length }),
    );

it("mergeEgress reaches the same state from the same facts, in any order", () => {
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
    for (const [now, report] of all.entries()) known = merge(known, report, {}, now);
    return { ...known, created_at: 0, updated_at: 0, check_at: 0 };
  };
  fc.assert(
    fc.property(reports, ([one, other]) => {
      expect(stateAfter(one)).toEqual(stateAfter(other));
    }),
  );
});
