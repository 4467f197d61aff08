import * as z from "zod";
import type { Row } from "../../database/queries.ts";
import { pastInstant, toTimestamp } from "../../http/wire.ts";
import { lazily } from "../../memory.ts";
import { consentMethod } from "./consents.fields.ts";
import type { consentSchema } from "./consents.responses.ts";
import type { consentColumns, ledgerColumns } from "./consents.sql.ts";

/** What the report of a call says of a participant's consent. */
export const consentReport = lazily(() =>
  z
    .object({
      recording_consent: z.boolean(),
      recording_consent_at: pastInstant(),
      recording_consent_method: consentMethod(),
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
