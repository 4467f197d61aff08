import type { KnownConsent } from "../../../src/calls/consents/consents.schemas.ts";

/** The decision that counts, by the rules of recording_consents.triggers.sql. Null without any decision. */
export function recordingConsent(
  ledger: Pick<KnownConsent, "decision" | "decided_at" | "reporter" | "said_at">[],
): boolean | null {
  const isWeak = ({ decision, reporter, said_at }: (typeof ledger)[number]) =>
    decision === "granted" && reporter === "observer" && said_at === null;
  const [latest] = [...ledger].sort(
    (one, other) =>
      Number(isWeak(one)) - Number(isWeak(other)) ||
      other.decided_at - one.decided_at ||
      Number(one.decision === "granted") - Number(other.decision === "granted"),
  );
  return latest ? latest.decision === "granted" : null;
}
