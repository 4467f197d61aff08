import * as z from "zod";
import type { Row } from "../../database/queries.ts";
import { instant, text, toTimestamp } from "../../http/wire.ts";
import { MAX_CONSENT_METHOD_LENGTH } from "../../limits.ts";
import { lazily } from "../../memory.ts";
import type { consentSchema } from "./consents.responses.ts";
import type { consentColumns, ledgerColumns } from "./consents.sql.ts";

export const consentMethod = lazily(() => text(MAX_CONSENT_METHOD_LENGTH));

/** The part of a call's report about a participant's consent. */
export const consentReport = lazily(() =>
  z
    .object({
      recording_consent: z.boolean(),
      recording_consent_at: instant(),
      recording_consent_method: consentMethod(),
    })
    .partial(),
);

export type Consent = Row<typeof consentColumns>;

/** The part of a decision that later decisions depend on. */
export type KnownConsent = Row<typeof ledgerColumns>;

/** @param rows the decisions of a call in order: a refusal withdraws every consent before it */
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
