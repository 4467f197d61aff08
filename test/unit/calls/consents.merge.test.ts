import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mergeConsent } from "../../../src/calls/consents/consents.merge.ts";
import type { KnownConsent } from "../../../src/calls/consents/consents.schemas.ts";
import type { Reporter } from "../../../src/database/enums.ts";
import { MAX_CONSENT_DECISIONS } from "../../../src/limits.ts";
import { timeOfReport } from "../../../src/rooms/report.ts";
import { SECOND } from "../../../src/units.ts";
import { recordingConsent } from "../support/consents.ts";
import { refusalOf } from "../support/merging.ts";

/** The participant joins at 100. Reports come from 1000 on, one second apart. */
const JOINED = 100;
const FIRST_REPORT = 1000;

interface Report {
  by?: Reporter;
  consent?: boolean;
  at?: number;
  method?: string;
  /** When the report was made, if it says so. */
  made?: number;
}

const grants: Report = { consent: true };
const refuses: Report = { consent: false };

function reported(
  ledger: KnownConsent[],
  { by: reporter = "platform", consent, at, method, made }: Report,
  now: number,
) {
  const report = { recording_consent: consent, recording_consent_at: at, recording_consent_method: method };
  const origin = { reporter, reported_at: timeOfReport({ reported_at: made }, now) };
  const next = mergeConsent({ ledger, present_since: JOINED }, report, origin, now);
  return next ? [...ledger, { ...next, participant_id: 1 }] : ledger;
}

const ledgerOf = (...reports: Report[]) =>
  reports.reduce<KnownConsent[]>((ledger, each, n) => reported(ledger, each, FIRST_REPORT + n * SECOND), []);

describe("mergeConsent, for reports without a time", () => {
  it("dates no grant after now, even if the reporter's clock is ahead", () => {
    const origin = { reporter: "platform", reported_at: 9 } as const;
    const granted = mergeConsent({ ledger: [], present_since: 5000 }, { recording_consent: true }, origin, 9);
    expect(granted).toMatchObject({ decided_at: 9, reported_at: 9 });
  });

  it("keeps the decisions of each reporter", () => {
    const ledger = ledgerOf({ ...grants, by: "observer" }, grants);
    expect(ledger.map(({ reporter }) => reporter)).toEqual(["observer", "platform"]);
  });

  it.each<[string, Report, Report]>([
    ["a grant", grants, grants],
    ["a grant, after a refusal", refuses, grants],
    ["a refusal that was made earlier", { ...refuses, at: 500 }, { ...refuses, made: 400 }],
  ])("adds nothing when an observer repeats %s", (_, known, seen) => {
    expect(ledgerOf(known, { ...seen, by: "observer" })).toHaveLength(1);
  });

  const at = (time: number) => [
    { ...grants, at: time },
    { ...refuses, at: time },
  ];

  it.each<[string, Report[]]>([
    ["a grant after a refusal", [refuses, grants]],
    ["a grant before and after a refusal", [grants, refuses, grants]],
    ["a grant by someone who refused before joining", [{ ...refuses, at: JOINED - 50 }, grants]],
    ["another reporter's grant after a refusal", [refuses, { ...grants, by: "observer" }]],
    ["a refusal after a grant from a clock that is ahead", [{ ...grants, at: 9000 }, refuses]],
    ["a refusal at the time of a grant", at(500)],
    ["a grant at the time of a refusal", at(500).reverse()],
  ])("lets the refusal count: %s", (_, reports) => {
    expect(recordingConsent(ledgerOf(...reports))).toBe(false);
  });
});

describe("mergeConsent, with a full ledger", () => {
  const full = ledgerOf(...Array.from({ length: MAX_CONSENT_DECISIONS }, (_, n) => ({ ...grants, at: n })));

  it("refuses grants, but accepts every refusal", () => {
    const [later, now] = [{ ...grants, at: 5000 }, 10 ** 6];
    expect(full).toHaveLength(MAX_CONSENT_DECISIONS);
    expect(refusalOf(() => reported(full, later, now))).toContain(`decided ${MAX_CONSENT_DECISIONS} times`);
    expect(reported(full, { ...grants, at: 7 }, now)).toBe(full);
    const ended = reported(full, refuses, now);
    expect(recordingConsent(ended)).toBe(false);
    expect(reported(ended, { ...refuses, at: 7 }, now)).toHaveLength(ended.length + 1);
  });
});

describe("mergeConsent, for a refusal without a time", () => {
  const at = (made: number): Report => ({ ...refuses, made });

  it("counts it again after a grant overruled an earlier refusal", () => {
    const ledger = ledgerOf({ ...refuses, at: 300 }, { ...grants, at: 400 }, refuses);
    expect(recordingConsent(ledger)).toBe(false);
  });

  it("dates it by its report, and counts it once however often it comes", () => {
    const ledger = ledgerOf(at(300), at(300), { ...grants, at: 400 }, at(300));
    expect(ledger.map(({ decided_at }) => decided_at)).toEqual([300, 400]);
    expect(recordingConsent(ledger)).toBe(true);
  });
});

describe("mergeConsent, for any reports", () => {
  const by = fc.constantFrom<Reporter>("platform", "observer");
  // Includes times before and after joining, and before and after the reports.
  const at = fc.integer({ min: 50, max: 20_000 });
  const report: fc.Arbitrary<Report> = fc.record({ by, consent: fc.boolean(), at }, { requiredKeys: [] });
  const reports = fc
    .tuple(fc.array(report, { maxLength: 6 }), fc.infiniteStream(fc.nat({ max: 11 })), fc.nat({ max: 14 }))
    .map(([each, order, length]) =>
      each.length === 0 ? [] : [...order.take(length)].map((n) => each[n % each.length] as Report),
    );

  it("restores a withdrawn consent only with a grant later than every refusal", () => {
    fc.assert(
      fc.property(reports, (sequence) => {
        let ledger: KnownConsent[] = [];
        for (const [n, each] of sequence.entries()) {
          const next = reported(ledger, each, FIRST_REPORT + n * SECOND);
          if (recordingConsent(ledger) === false && recordingConsent(next)) {
            const refusals = ledger.filter(({ decision }) => decision === "refused");
            expect(each.consent).toBe(true);
            expect(each.at).toBeGreaterThan(Math.max(...refusals.map(({ decided_at }) => decided_at)));
          }
          ledger = next;
        }
      }),
      { numRuns: 5000 },
    );
  });

  it("ends with a refusal that is later than every grant that counts", () => {
    const time = fc.integer({ min: 50, max: 70_000 });
    const fields = { by, consent: fc.boolean(), at: time, made: time };
    const skewed: fc.Arbitrary<Report> = fc.record(fields, { requiredKeys: ["consent"] });
    const order = fc.array(fc.nat(), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(fc.array(skewed, { minLength: 1, maxLength: 6 }), order, (each, places) => {
        const sequence = places.map((n) => each[n % each.length] as Report);
        const ledger = ledgerOf(...sequence);
        const refusals = sequence.flatMap(({ by, consent, at, made = Number.POSITIVE_INFINITY }, n) => {
          const now = FIRST_REPORT + n * SECOND;
          const isKnown = (each: Report) => each.by === by && each.consent === consent && each.at === at;
          // A refusal with a time counts from its first report.
          if (at !== undefined && sequence.slice(0, n).some(isKnown)) return [];
          return consent ? [] : [Math.min(at ?? made, by === "observer" ? Math.min(made, now) : now)];
        });
        const grants = ledger.filter(({ decision }) => decision === "granted");
        const isLatest = (time: number) => grants.every(({ decided_at }) => decided_at <= time);
        if (refusals.some(isLatest)) expect(recordingConsent(ledger)).toBe(false);
      }),
      { numRuns: 5000 },
    );
  });

  it("reaches the same decisions in any order, however often they are repeated, if they have times", () => {
    const dated = fc.array(
      report.map((each) => ({ at: 500, consent: false, ...each })),
      { maxLength: 6 },
    );
    const sorted = (ledger: KnownConsent[]) =>
      ledger.map(({ reporter, decision, said_at }) => `${said_at} ${reporter} ${decision}`).sort();
    const twice = dated.chain((each) =>
      fc.tuple(fc.constant(each), fc.shuffledSubarray([...each, ...each], { minLength: 2 * each.length })),
    );
    fc.assert(
      fc.property(twice, ([inOrder, shuffled]) => {
        expect(sorted(ledgerOf(...shuffled))).toEqual(sorted(ledgerOf(...inOrder)));
      }),
      { numRuns: 1000 },
    );
  });
});
