import * as z from "zod";
import type { Row } from "../../database/queries.ts";
import { instant, text, toTimestamp } from "../../http/wire.ts";
import { MAX_CONSENT_METHOD_LENGTH } from "../../limits.ts";
import { lazily } from "../../memory.ts";
import type { consentSchema } from "./consents.responses.ts";
import type { consentColumns, ledgerColumns } from "./consents.sql.ts";

export const consentMethod = lazily(() => text(MAX_CONSENT_METHOD_LENGTH));

export const consentReport = () =>
  z
    .object({
      recording_consent: z.boolean(),
      recording_consent_at: instant(),
      recording_consent_method: consentMethod(),
    })
    .partial();

export type Consent = Row<typeof consentColumns>;

export type KnownConsent = Row<typeof ledgerColumns>;

/** Leaves out a refusal that follows a refusal, because observers repeat them. */
export function toConsents(rows: Consent[]): z.input<typeof consentSchema>[] {
  const latest = new Map<number, Consent["decision"]>();
  return rows.flatMap((row) => {
    const { decision, participant_id } = row;
    const before = latest.get(participant_id);
    latest.set(participant_id, decision);
    if (decision === "refused" && before === "refused") return [];
    return {
      id: row.id,
      participant_id,
      decision: decision === "refused" && before ? "withdrawn" : decision,
      decided_at: toTimestamp(row.decided_at),
      method: row.method,
      reported_at: toTimestamp(row.reported_at),
    };
  });
}
