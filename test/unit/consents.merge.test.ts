import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ConsentReporter } from "../../src/database/enums.ts";
import { ApiError } from "../../src/http/errors.ts";
import { CONSENT_CLOCK_TOLERANCE } from "../../src/lifetimes.ts";
import { MAX_CONSENT_DECISIONS } from "../../src/limits.ts";
import { mergeConsent } from "../../src/resources/consents/consents.merge.ts";
import type { KnownConsent } from "../../src/resources/consents/consents.schemas.ts";
import { SECOND } from "../../src/units.ts";
import { recordingConsent } from "./support/consents.ts";

/** The participant joins at 100. Reports come from 1000 on, a second after each other. */
const JOINED = 100;
const FIRST_REPORT = 1000;

interface Report {
  by?: ConsentReporter;
  consent?: boolean;
  at?: number;
  method?: string;
}

const grants: Report = { consent: true };
const refuses: Report = { consent: false };

function reported(ledger: KnownConsent[], { by = "platform", consent, at, method }: Report, now: number) {
  const report = { recording_consent: consent, recording_consent_at: at, recording_consent_method: method };
  const next = mergeConsent({ ledger, present_since: JOINED }, by, report, now);
  return next ? [...ledger, { ...next, participant_id: 1 }] : ledger;
}

const ledgerOf = (...reports: Report[]) =>
  reports.reduce<KnownConsent[]>((ledger, each, n) => reported(ledger, each, FIRST_REPORT + n * SECOND), []);

describe("A report of consent without a time", () => {
  it("is no grant from later than now, as where the clock of the reporter is ahead", () => {
    const [granted] = [
      mergeConsent({ ledger: [], present_since: 5000 }, "platform", { recording_consent: true }, 9),
    ];
    expect(granted).toMatchObject({ decided_at: 9, reported_at: 9 });
  });

  it("is a decision of its own by another reporter", () => {
    const ledger = ledgerOf(grants, { ...grants, by: "livekit" });
    expect(ledger.map(({ reporter }) => reporter)).toEqual(["platform", "livekit"]);
  });

  it.each<[string, Report[]]>([
    ["a grant after a refusal", [refuses, grants]],
    ["a grant before and after a refusal", [grants, refuses, grants]],
    ["a grant of somebody who joined after refusing", [{ ...refuses, at: JOINED - 50 }, grants]],
    ["another reporter's grant after a refusal", [refuses, { ...grants, by: "livekit" }]],
    ["a refusal after a grant from a clock that is ahead", [{ ...grants, at: 9000 }, refuses]],
    [
      "a refusal at the time of a grant",
      [
        { ...grants, at: 500 },
        { ...refuses, at: 500 },
      ],
    ],
    [
      "a grant at the time of a refusal",
      [
        { ...refuses, at: 500 },
        { ...grants, at: 500 },
      ],
    ],
  ])("or at the same time: the refusal counts: %s", (_, reports) => {
    expect(recordingConsent(ledgerOf(...reports))).toBe(false);
  });
});

describe("A ledger that is full", () => {
  const full = ledgerOf(...Array.from({ length: MAX_CONSENT_DECISIONS }, (_, n) => ({ ...grants, at: n })));

  it("takes no grant, and the refusal that ends the consent", () => {
    const [later, now] = [{ ...grants, at: 5000 }, 10 ** 6];
    expect(full).toHaveLength(MAX_CONSENT_DECISIONS);
    expect(reported(full, later, now)).toBe(full);
    expect(reported(full, { ...refuses, at: 7 }, now)).toBe(full);
    const ended = reported(full, refuses, now);
    expect(recordingConsent(ended)).toBe(false);
    expect(reported(ended, later, now)).toBe(ended);
    expect(reported(ended, { ...refuses, at: 7 }, now)).toBe(ended);
  });
});

describe("Reports of consent, whatever they are", () => {
  const report: fc.Arbitrary<Report> = fc.record(
    {
      by: fc.constantFrom<ConsentReporter>("platform", "livekit"),
      consent: fc.boolean(),
      // Before and after joining, and before and after the reports.
      at: fc.integer({ min: 50, max: 20_000 }),
    },
    { requiredKeys: [] },
  );
  const reports = fc
    .tuple(fc.array(report, { maxLength: 6 }), fc.infiniteStream(fc.nat({ max: 11 })), fc.nat({ max: 14 }))
    .map(([each, order, length]) =>
      each.length === 0 ? [] : [...order.take(length)].map((n) => each[n % each.length] as Report),
    );

  it("bring a consent that was withdrawn back only by a grant that is later than every refusal before", () => {
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

  it("end a consent with every refusal that is no repetition and has no time", () => {
    fc.assert(
      fc.property(reports, (sequence) => {
        const ledger = ledgerOf(...sequence);
        const next = reported(ledger, refuses, FIRST_REPORT + sequence.length * SECOND);
        if (next !== ledger) expect(recordingConsent(next)).toBe(false);
      }),
      { numRuns: 2000 },
    );
  });

  it("with times lead to the same decisions in every order, however often they come", () => {
    const dated = fc.array(
      report.map((each) => ({ at: 500, consent: false, ...each })),
      { maxLength: 6 },
    );
    const sorted = (ledger: KnownConsent[]) =>
      ledger.map(({ reporter, decision, decided_at }) => `${decided_at} ${reporter} ${decision}`).sort();
    fc.assert(
      fc.property(
        dated.chain((each) =>
          fc.tuple(
            fc.constant(each),
            fc.shuffledSubarray([...each, ...each], { minLength: 2 * each.length }),
          ),
        ),
        ([inOrder, shuffled]) => {
          expect(sorted(ledgerOf(...shuffled))).toEqual(sorted(ledgerOf(...inOrder)));
        },
      ),
      { numRuns: 1000 },
    );
  });

  it("are never refused but for a time in the future", () => {
    fc.assert(
      fc.property(
        fc.array(report, { maxLength: 4 }),
        fc.integer({ min: 0, max: 200_000 }),
        (sequence, at) => {
          const ledger = ledgerOf(...sequence);
          try {
            reported(ledger, { ...grants, at }, FIRST_REPORT);
          } catch (error) {
            expect(error).toBeInstanceOf(ApiError);
            expect(at).toBeGreaterThan(FIRST_REPORT + CONSENT_CLOCK_TOLERANCE);
          }
        },
      ),
    );
  });
});
