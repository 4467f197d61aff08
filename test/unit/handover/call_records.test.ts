import { expect, it } from "vitest";
import type { Consent } from "../../../src/calls/consents/consents.schemas.ts";
import { countingConsent } from "../../../src/handover/call_records/call_records.service.ts";

const decision = (said: string, decided_at: number, more: object = {}) =>
  ({
    participant_id: 1,
    decision: said,
    decided_at,
    said_at: decided_at,
    reporter: "platform",
    ...more,
  }) as Consent;

const undated = { reporter: "observer", said_at: null };

it.each<[string, boolean | null, Consent[], number | undefined]>([
  ["the latest grant", true, [decision("granted", 1), decision("refused", 2), decision("granted", 3)], 2],
  ["the latest refusal", false, [decision("refused", 1), decision("granted", 2), decision("refused", 3)], 2],
  ["a refusal at the time of a grant", false, [decision("refused", 1), decision("granted", 1)], 0],
  [
    "a grant before an observer's without a time",
    true,
    [decision("granted", 1), decision("granted", 2, undated)],
    0,
  ],
  ["an observer's grant without a time, alone", true, [decision("granted", 1, undated)], 0],
  [
    "an observer's refusal without a time",
    false,
    [decision("refused", 1), decision("refused", 2, undated)],
    1,
  ],
  ["no decision of somebody else", null, [decision("granted", 1, { participant_id: 2 })], undefined],
])("The consent that counts is %s", (_, recording_consent, consents, counting) => {
  expect(countingConsent({ id: 1, recording_consent }, consents)).toBe(consents[counting ?? -1]);
});
