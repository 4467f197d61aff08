import type { KnownConsent } from "../../../src/resources/consents/consents.schemas.ts";

/** Which of somebody's decisions counts, as triggers/recording_consents.sql has it: null where nobody asked. */
export function recordingConsent(ledger: Pick<KnownConsent, "decision" | "decided_at">[]): boolean | null {
  const [latest] = [...ledger].sort(
    (one, other) =>
      other.decided_at - one.decided_at ||
      Number(one.decision === "granted") - Number(other.decision === "granted"),
  );
  return latest ? latest.decision === "granted" : null;
}
