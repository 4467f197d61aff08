import type * as z from "zod";
import type { ConsentDecision, ConsentReporter } from "../../database/enums.ts";
import { MAX_CONSENT_DECISIONS } from "../../limits.ts";
import { tooManyDecisions } from "./consents.refusals.ts";
import type { Consent, consentReport, KnownConsent } from "./consents.schemas.ts";

/** What a decision rests on. */
export interface KnownConsents {
  /** The participant's decisions, in the order in which they were reported. */
  ledger: KnownConsent[];
  /** When the participant joined, or else when the call started. */
  present_since: number;
}

/** Who reports a decision, and when the report was made. */
interface Reported {
  reporter: ConsentReporter;
  reported_at: number;
}

type ConsentReport = z.output<ReturnType<typeof consentReport>>;

/**
 * The decision that a report adds to the ledger; undefined where it says none, or one that is known.
 *
 * Of a participant's decisions the latest counts, and of two at the same time the refusal (see
 * triggers/recording_consents.sql). A refusal always counts from when it was said: a grant that is only repeated is none
 * again, but a person may refuse again. So after a refusal only a grant brings consent back of which the report says that
 * it was made later.
 *
 * @throws ApiError 422 if it is a grant, and there are very many decisions
 */
export function mergeConsent(
  known: KnownConsents,
  { recording_consent, recording_consent_at: at, recording_consent_method }: ConsentReport,
  origin: Reported,
  now: number,
): Omit<Consent, "id" | "organization_id" | "participant_id"> | undefined {
  if (recording_consent === undefined) return undefined;
  const decision = recording_consent ? "granted" : "refused";
  const { reporter, reported_at } = origin;
  const own = known.ledger.filter((each) => each.reporter === reporter);
  if (at === undefined && recording_consent && own.at(-1)?.decision === decision) return undefined;
  const decided_at =
    at === undefined
      ? timeOfUndated(decision, known, origin, now)
      : Math.min(at, latestTimeOf(decision, origin, now));
  const said_at = at ?? null;
  const time = said_at ?? decided_at;
  if (own.some((each) => each.decision === decision && (each.said_at ?? each.decided_at) === time))
    return undefined;
  if (recording_consent && known.ledger.length >= MAX_CONSENT_DECISIONS) throw tooManyDecisions();
  const method = recording_consent_method ?? null;
  return { reporter, decision, decided_at, said_at, method, reported_at, created_at: now };
}

/**
 * What is in the future counts as now. But by a clock that is ahead, a refusal is in the future and was said after a grant all the
 * same. An event of LiveKit may come late, with a time that was in the future when it was made.
 */
function latestTimeOf(decision: ConsentDecision, { reporter, reported_at }: Reported, now: number): number {
  if (reporter === "livekit") return reported_at;
  return decision === "granted" ? now : Number.POSITIVE_INFINITY;
}

/**
 * From when a decision counts of which the report does not say when it was made: a refusal from when the report was made,
 * and a grant from when the participant was there. Reports are late, and clocks differ: so such a grant never overrules a
 * refusal, and of LiveKit's, whose events come in any order, the refusal overrules the grant.
 */
function timeOfUndated(
  decision: ConsentDecision,
  { ledger, present_since }: KnownConsents,
  { reporter, reported_at }: Reported,
  now: number,
): number {
  if (decision === "granted") return Math.min(present_since, now, latestDecision(ledger, "refused") ?? now);
  const undated = ledger.filter((each) => each.said_at === null && each.reporter === reporter);
  return reporter === "livekit"
    ? Math.max(reported_at, latestDecision(undated, "granted") ?? 0)
    : reported_at;
}

function latestDecision(ledger: KnownConsent[], decision: ConsentDecision): number | undefined {
  const times = ledger.filter((each) => each.decision === decision).map(({ decided_at }) => decided_at);
  return times.length > 0 ? Math.max(...times) : undefined;
}
