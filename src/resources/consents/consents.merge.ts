import type * as z from "zod";
import type { ConsentDecision, ConsentReporter } from "../../database/enums.ts";
import { CONSENT_CLOCK_TOLERANCE } from "../../lifetimes.ts";
import { MAX_CONSENT_DECISIONS } from "../../limits.ts";
import { consentDecidedInFuture } from "./consents.refusals.ts";
import type { Consent, consentReport, KnownConsent } from "./consents.schemas.ts";

/** What a decision rests on. */
export interface KnownConsents {
  /** The participant's decisions, in the order in which they were reported. */
  ledger: KnownConsent[];
  /** When the participant joined, or else when the call started. */
  present_since: number;
}

type ConsentReport = z.output<ReturnType<typeof consentReport>>;

/**
 * The decision that a report adds to the ledger; undefined where it says none, or one that is known.
 *
 * Of a participant's decisions the latest counts, and of two at the same time the refusal (see
 * triggers/recording_consents.sql). So after a refusal only a grant brings consent back of which the report says that it
 * was made later.
 *
 * @param reporter where it is LiveKit, the report has nothing that LiveKit repeats (see livekit/visits.merge.ts)
 * @throws ApiError 422 if it is said to be decided in the future
 */
export function mergeConsent(
  known: KnownConsents,
  reporter: ConsentReporter,
  report: ConsentReport,
  now: number,
): Omit<Consent, "id" | "organization_id" | "participant_id"> | undefined {
  const { recording_consent, recording_consent_at: at, recording_consent_method: method = null } = report;
  if (recording_consent === undefined) return undefined;
  if (at !== undefined && isInFuture(at, now)) throw consentDecidedInFuture();
  const decision = recording_consent ? "granted" : "refused";
  const own = known.ledger.filter((each) => each.reporter === reporter);
  if (at === undefined && reporter === "platform" && own.at(-1)?.decision === decision) return undefined;
  const decided_at = at ?? timeOfUndated(decision, known, now);
  if (own.some((each) => each.decision === decision && each.decided_at === decided_at)) return undefined;
  const isFull = known.ledger.length >= MAX_CONSENT_DECISIONS;
  if (isFull && !endsConsent(known.ledger, decision, decided_at)) return undefined;
  return { reporter, decision, decided_at, method, reported_at: now };
}

export const isInFuture = (at: number, now: number) => at > now + CONSENT_CLOCK_TOLERANCE;

/**
 * From when a decision counts of which the report does not say when it was made: a grant from when the participant was
 * there, a refusal from now. Reports are late, and clocks differ. So such a grant never overrules a refusal, and such a
 * refusal overrules every grant.
 */
function timeOfUndated(
  decision: ConsentDecision,
  { ledger, present_since }: KnownConsents,
  now: number,
): number {
  return decision === "granted"
    ? Math.min(present_since, now, latestDecision(ledger, "refused") ?? now)
    : Math.max(now, latestDecision(ledger, "granted") ?? now);
}

/** A full ledger takes only the refusal that ends a consent: that is always possible. */
function endsConsent(ledger: KnownConsent[], decision: ConsentDecision, decided_at: number): boolean {
  const granted = latestDecision(ledger, "granted") ?? Number.POSITIVE_INFINITY;
  const refused = latestDecision(ledger, "refused") ?? Number.NEGATIVE_INFINITY;
  return decision === "refused" && refused < granted && decided_at >= granted;
}

function latestDecision(ledger: KnownConsent[], decision: ConsentDecision): number | undefined {
  const times = ledger.filter((each) => each.decision === decision).map(({ decided_at }) => decided_at);
  return times.length > 0 ? Math.max(...times) : undefined;
}
