import * as z from "zod";
import type { Row } from "../../database/queries.ts";
import { instant, toTimestamp } from "../../http/wire.ts";
import { CONSENT_CLOCK_TOLERANCE } from "../../lifetimes.ts";
import { MAX_CONSENT_DECISIONS } from "../../limits.ts";
import { lazily } from "../../memory.ts";
import { SECOND } from "../../units.ts";
import { consentMethod } from "./consents.fields.ts";
import type { consentSchema } from "./consents.responses.ts";
import type { consentColumns, ledgerColumns } from "./consents.sql.ts";

/** What the report of a call says of a participant's consent. */
export const consentReport = lazily(() =>
  z
    .object({
      recording_consent: z
        .boolean()
        .describe(
          `Whether the participant agrees to the recording. Null, or left out: nothing new, and at first that the participant was not asked. Recordings of a call can be read only while it is true for all its participants. Each decision is kept, and the latest counts. After ${MAX_CONSENT_DECISIONS} decisions of a participant, only a refusal that ends the consent is kept.`,
        ),
      recording_consent_at: instant().describe(
        `When the participant decided that, at most ${CONSENT_CLOCK_TOLERANCE / SECOND} seconds in the future. Without it, \`recording_consent\` is a decision only if it differs from what you said last: a refusal then counts from when it is reported, and a consent from when the participant joined. So consent that was withdrawn comes back only with a later time here. Ignored without \`recording_consent\`.`,
      ),
      recording_consent_method: consentMethod().describe(
        "How the participant said so, for example `verbal` or `form`. Ignored without `recording_consent`.",
      ),
    })
    .partial(),
);

export type Consent = Row<typeof consentColumns>;

/** A decision, as far as others depend on it. */
export type KnownConsent = Row<typeof ledgerColumns>;

/** The decisions of a call in their order. A refusal takes back every consent before it. */
export function toConsents(rows: Consent[]): z.input<typeof consentSchema>[] {
  const consented = new Set<number>();
  return rows.map((row) => {
    if (row.decision === "granted") consented.add(row.participant_id);
    const isWithdrawn = row.decision === "refused" && consented.has(row.participant_id);
    return {
      id: row.id,
      participant_id: row.participant_id,
      decision: isWithdrawn ? "withdrawn" : row.decision,
      decided_at: toTimestamp(row.decided_at),
      method: row.method,
      reported_at: toTimestamp(row.reported_at),
    };
  });
}
