import type * as z from "zod";
import type { ConsentDecision, Reporter } from "../../database/enums.ts";
import { unprocessable } from "../../http/errors.ts";
import { MAX_CONSENT_DECISIONS } from "../../limits.ts";
import type { Consent, consentReport, KnownConsent } from "./consents.schemas.ts";

interface KnownConsents {
  /** The participant's decisions, in the order in which they were reported. */
  ledger: KnownConsent[];
  /** When the participant joined, or else when the call started. */
  present_since: number;
}

interface Reported {
  reporter: Reporter;
  reported_at: number;
}

/**
 * Returns the decision that a report adds to the ledger; undefined if the report has no decision, or a known one.
 *
 * The latest of a participant's decisions counts, and of two at the same time the refusal (see recording_consents.triggers.sql).
 * A refusal always counts from when it was made. A repeated grant is not a new grant, but a repeated refusal can be a new one. So
 * after a refusal, only a grant that the report dates later restores consent. An observer repeats what it sees, so its
 * undated decisions count less (`isRepeated`).
 *
 * @throws ApiError 422 if the decision is a grant and the ledger is full
 */
export function mergeConsent(
  known: KnownConsents,
  report: z.output<ReturnType<typeof consentReport>>,
  origin: Reported,
  now: number,
): Omit<Consent, "id" | "organization_id" | "participant_id"> | undefined {
  const { recording_consent, recording_consent_at: at, recording_consent_method: method = null } = report;
  if (recording_consent === undefined) return undefined;
  const decision = recording_consent ? "granted" : "refused";
  const { reporter, reported_at } = origin;
  const own = known.ledger.filter((each) => each.reporter === reporter);
  if (at === undefined && recording_consent && own.at(-1)?.decision === decision) return undefined;
  const decided_at =
    at === undefined
      ? timeOfUndated(decision, known, origin, now)
      : // A time in the future counts as now. An observer's report may arrive late: its "now" is when it was made.
        Math.min(at, reporter === "observer" ? reported_at : now);
  if (at === undefined && reporter === "observer" && isRepeated(decision, decided_at, known))
    return undefined;
  const said_at = at ?? null;
  const time = said_at ?? decided_at;
  if (own.some((each) => each.decision === decision && (each.said_at ?? each.decided_at) === time))
    return undefined;
  if (recording_consent && known.ledger.length >= MAX_CONSENT_DECISIONS) {
    // An observer's decision is dropped, not refused, so that the rest of its report still counts.
    if (reporter === "observer") return undefined;
    throw tooManyDecisions();
  }
  return { reporter, decision, decided_at, said_at, method, reported_at, created_at: now };
}

/**
 * Whether an observer's undated decision is nothing new. A grant is new only while no decision is known. A refusal is new unless
 * one from the same time or later is known. In a full ledger, it is not new either if the latest decision is a refusal.
 */
function isRepeated(decision: ConsentDecision, decided_at: number, { ledger }: KnownConsents): boolean {
  if (decision === "granted") return ledger.length > 0;
  const refused_at = latestDecision(ledger, "refused");
  const isFull = ledger.length >= MAX_CONSENT_DECISIONS;
  return refused_at >= decided_at || (isFull && refused_at >= latestDecision(ledger, "granted"));
}

/**
 * The time of a decision that the report does not date: for a refusal, the time of the report; for a grant, the time when the
 * participant arrived. Reports can be late and clocks differ, so such a grant never overrules a refusal.
 */
function timeOfUndated(
  decision: ConsentDecision,
  { ledger, present_since }: KnownConsents,
  { reported_at }: Reported,
  now: number,
): number {
  if (decision === "refused") return reported_at;
  const refused_at = latestDecision(ledger, "refused");
  return Math.min(present_since, now, refused_at === NEVER ? now : refused_at);
}

const NEVER = Number.NEGATIVE_INFINITY;

const latestDecision = (ledger: KnownConsent[], decision: ConsentDecision): number =>
  Math.max(NEVER, ...ledger.filter((each) => each.decision === decision).map((each) => each.decided_at));

export const tooManyDecisions = () =>
  unprocessable(
    "too_many_consent_decisions",
    `call.participants: recording_consent was decided ${MAX_CONSENT_DECISIONS} times, which is the limit: only false is accepted from now on`,
  );
