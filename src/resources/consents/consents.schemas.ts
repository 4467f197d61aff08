import * as z from "zod";
import type { Row } from "../../database/queries.ts";
import { pastInstant, toTimestamp } from "../../http/wire.ts";
import { MAX_CONSENT_DECISIONS } from "../../limits.ts";
import { lazily } from "../../memory.ts";
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
          `Whether the participant agrees to the recording. Null, or left out: nothing new, and at first that the participant was not asked. Recordings of a call can be read only while it is true for all its participants. Each decision is kept, and the latest counts. After ${MAX_CONSENT_DECISIONS} decisions of a participant, only a refusal is taken.`,
        ),
      recording_consent_at: pastInstant().describe(
        "When the participant decided that. Send it wherever you know it: then a report can be repeated without harm. Without it, a refusal is a decision of `reported_at`, each time it is reported; and a consent is one only if it differs from what you said last, from when the participant joined. So consent that was withdrawn comes back only with a later time here. Ignored without `recording_consent`.",
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
