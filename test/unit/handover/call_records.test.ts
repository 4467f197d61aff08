import { expect, it } from "vitest";
import type { Consent } from "../../../src/calls/consents/consents.schemas.ts";
import { countingConsent } from "../../../src/handover/call_records/call_records.service.ts";

const decided =
  (decision: string) =>
  (decided_at: number, more: object = {}) =>
    ({
      participant_id: 1,
      decision,
      decided_at,
      said_at: decided_at,
      reporter: "platform",
      ...more,
    }) as Consent;

const grant = decided("granted");
const refusal = decided("refused");
const undated = { reporter: "observer", said_at: null };

it.each<[string, boolean | null, Consent[], number | undefined]>([
  ["the latest grant", true, [grant(1), refusal(2), grant(3)], 2],
  ["the latest refusal", false, [refusal(1), grant(2), refusal(3)], 2],
  ["a refusal at the time of a grant", false, [refusal(1), grant(1)], 0],
  ["a grant before an observer's without a time", true, [grant(1), grant(2, undated)], 0],
  ["an observer's grant without a time, alone", true, [grant(1, undated)], 0],
  ["an observer's refusal without a time", false, [refusal(1), refusal(2, undated)], 1],
  ["no decision of somebody else", null, [grant(1, { participant_id: 2 })], undefined],
])("The consent that counts is %s", (_, recording_consent, consents, counting) => {
  expect(countingConsent({ id: 1, recording_consent }, consents)).toBe(consents[counting ?? -1]);
});
