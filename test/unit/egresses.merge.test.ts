import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EGRESS_STATUSES } from "../../src/database/enums.ts";
import { EGRESS_SILENCE } from "../../src/limits.ts";
import { mergeEgress } from "../../src/resources/egresses/egresses.merge.ts";
import type { Egress, EgressReport } from "../../src/resources/egresses/egresses.schemas.ts";
import { eachReport, refusalOf } from "./support/merging.ts";

const starting: Egress = {
  id: 5,
  organization_id: 1,
  call_id: 2,
  egress_id: "EG_1",
  status: "egress_starting",
  error: null,
  is_stopped: false,
  ended_at: null,
  early_ended_at: null,
  storage_key: null,
  changed_by_user_id: 3,
  deletion_due_at: null,
  deletion_requested: false,
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
const KNOWN = {
  organization: { id: 1, slug: "clinic" },
  call: CALL,
  isMember: true,
  fileOwner: undefined,
};

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

/** What the first report makes of it: the database adds the rest. */
function created({ id, deletion_due_at, deletion_requested, call_ended_at, is_held, ...egress }: Egress) {
  return changed({ ...egress, created_at: NOW });
}

describe("A first report of an egress", () => {
  it("becomes the egress: it goes on where nothing else is said", () => {
    expect(merge(undefined, { call_key: "call", status: "egress_starting" })).toEqual(
      created({ ...starting, changed_by_user_id: null }),
    );
  });

  it.each(["egress_starting", "egress_active", "egress_ending"] as const)(
    "goes on with the status %s",
    (status) => {
      expect(merge(undefined, { call_key: "call", status })).toMatchObject({
        status,
        is_stopped: false,
        ended_at: null,
      });
    },
  );

  it("of an end is stopped and has ended, whatever else it says", () => {
    const end: EgressReport = { call_key: "call", status: "egress_ended" };
    const ended = { status: "egress_ended", is_stopped: true, ended_at: NOW };
    expect(merge(undefined, end)).toMatchObject(ended);
    expect(merge(undefined, { ...end, is_stopped: false, ended_at: null })).toMatchObject(ended);
  });

  it("may say everything", () => {
    const { error, is_stopped, ended_at, storage_key } = ended;
    const all: EgressReport = { status: "egress_ended", error, is_stopped, ended_at, storage_key };
    expect(merge(undefined, { ...all, call_key: "call", user_id: 3 })).toEqual(created(ended));
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
  const refusal = (known: Egress | undefined, report: EgressReport, references: object) =>
    refusalOf(() =>
      mergeEgress({ ...KNOWN, egress: known, isMember: false, ...references }, "EG_1", report, NOW),
    );

  const report: EgressReport = { call_key: "call", status: "egress_ended", storage_key: "clinic/b.wav" };

  it.each(["b.wav", "clinic", "clinic-2/b.wav", "Clinic/b.wav", "a/clinic/b.wav"])(
    "when its file does not begin with the slug of the organization, whatever became of the egress: %s",
    (storage_key) => {
      for (const known of [undefined, starting, ended, deleted])
        expect(refusal(known, { ...report, storage_key }, {})).toMatch(
          /storage_key: must begin with the organization's slug and a slash/,
        );
    },
  );

  it("when its file is, or was, that of another recording, whatever became of the egress", () => {
    for (const known of [undefined, starting, ended, deleted]) {
      expect(refusal(known, report, { fileOwner: "EG_2" })).toMatch(
        /storage_key: is, or was, the file of another recording/,
      );
      const own = { ...KNOWN, egress: known, fileOwner: "EG_1" };
      expect(mergeEgress(own, "EG_1", report, NOW)).toMatchObject({ storage_key: "clinic/b.wav" });
    }
  });

  it("when there is no call of its call_key", () => {
    const report = { call_key: "nowhere", user_id: 9 };
    for (const known of [undefined, starting, ended])
      expect(refusal(known, report, { call: undefined })).toMatch(/no call with this key/);
  });

  it("when it is the first and names no call", () => {
    const report: EgressReport = { status: "egress_starting" };
    expect(refusal(undefined, report, { call: undefined })).toMatch(/first report must name a call/);
  });

  it("when it names another call", () => {
    const call = { id: 99 };
    for (const known of [starting, ended])
      expect(refusal(known, { call_key: "other", user_id: 9 }, { call })).toMatch(
        /must be the call of the first report/,
      );
  });

  it("when its user is not of the organization", () => {
    for (const known of [undefined, starting, ended])
      expect(refusal(known, { call_key: "call", status: "egress_ended", user_id: 9 }, {})).toMatch(/user_id/);
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

  it.each<[string, EgressReport, Partial<Egress>]>([
    ["an error, of nobody", { error: "Lost." }, { error: "Lost.", changed_by_user_id: null }],
    [
      "an error, of nobody in so many words",
      { error: "Lost.", user_id: null },
      { error: "Lost.", changed_by_user_id: null },
    ],
    ["an error, of somebody", { error: "Lost.", user_id: 4 }, { error: "Lost.", changed_by_user_id: 4 }],
    ["that it was stopped", { is_stopped: true, user_id: 3 }, { is_stopped: true }],
    ["an end before it, which waits", { ended_at: 30, user_id: 3 }, { early_ended_at: 30 }],
    ["a storage key", { storage_key: "clinic/b.wav", user_id: 3 }, { storage_key: "clinic/b.wav" }],
    ["the next status", { status: "egress_active", user_id: 3 }, { status: "egress_active" }],
    [
      "the end",
      { status: "egress_ended", ended_at: 40, user_id: 3 },
      { status: "egress_ended", is_stopped: true, ended_at: 40 },
    ],
    [
      "the end, without its time",
      { status: "egress_ended", is_stopped: false, ended_at: null, user_id: 3 },
      { status: "egress_ended", is_stopped: true, ended_at: NOW },
    ],
  ])("takes in %s", (_, report, change) => {
    expect(merge(starting, report)).toEqual(changed({ ...starting, ...change }));
  });

  it("clears with null what has not ended", () => {
    const known = { ...starting, error: "A hiccup.", early_ended_at: 30, storage_key: "clinic/a.wav" };
    const report = { error: null, ended_at: null, storage_key: null, user_id: 3 };
    expect(merge(known, report)).toEqual(changed({ ...starting }));
  });

  it("clears of an ended one its error and its storage key, but not its end", () => {
    const report = { error: null, ended_at: null, is_stopped: null, storage_key: null, user_id: 3 };
    expect(merge(ended, report)).toEqual(changed({ ...ended, error: null, storage_key: null }));
  });

  it("corrects when an ended one ended", () => {
    expect(merge(ended, { ended_at: 41, user_id: 3 })).toEqual(changed({ ...ended, ended_at: 41 }));
  });

  it("takes the end that was reported before, where the status comes without it", () => {
    const known = { ...starting, early_ended_at: 30 };
    for (const report of [{}, { ended_at: null }])
      expect(merge(known, { status: "egress_ended", ...report })).toMatchObject({
        is_stopped: true,
        ended_at: 30,
        early_ended_at: null,
      });
    expect(merge(known, { status: "egress_ended", ended_at: 40 })).toMatchObject({ ended_at: 40 });
  });

  it.each(["egress_starting", "egress_active", "egress_ending"] as const)(
    "that comes late fills in what is unknown of an ended one, and changes nothing else: %s",
    (status) => {
      const known = { ...ended, error: null, storage_key: null };
      const late: EgressReport = { status, is_stopped: false, ended_at: 99, user_id: 4 };
      expect(merge(known, { ...late, error: "Lost.", storage_key: "clinic/b.wav" })).toEqual(
        changed({
          ...known,
          error: "Lost.",
          storage_key: "clinic/b.wav",
          changed_by_user_id: 4,
        }),
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

  it.each<EgressReport>([
    { status: "egress_starting" },
    { status: "egress_active" },
    { status: "egress_ending", error: null },
    { status: "egress_starting", error: "New.", storage_key: null, ended_at: 99, user_id: 4 },
    { is_stopped: false },
    { ended_at: null },
  ])("that comes late does not move an ended one back: %o", (report) => {
    expect(merge(ended, report)).toBe(ended);
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
