import { describe, expect, it } from "vitest";
import { aCall, aRecipient, type Call, STARTED_AT } from "../support/calls.ts";
import { aTimestamp, expectRefusal } from "../support/expectations.ts";
import { aLiveKitRoom, at, delivered } from "../support/livekit.ts";
import { anOrganization, given, type Organization } from "../support/organization.ts";
import { fromNow, travelTo } from "../support/time.ts";
import { changingNothing } from "../support/unchanged.ts";

interface Consent {
  id: number;
  participant_id: number;
  decision: string;
  decided_at: string;
  method: string | null;
  reported_at: string;
}

const JOINED_AT = "2026-01-31T09:31:00.000Z";

const consentsOf = async ({ client }: Organization, { path }: { path: string }): Promise<Consent[]> =>
  (await given(client.get(`${path}/consents`))).consents;

const decisionsOf = async (clinic: Organization, call: { path: string }) =>
  (await consentsOf(clinic, call)).map(({ decision }) => decision);

/** An ended call with a recording and a single participant, whose consent the test chooses. */
async function aRecordedCall(rita: object = {}) {
  const clinic = await anOrganization();
  const person = aRecipient({ joined_at: JOINED_AT, recording_consent: undefined, ...rita });
  const call = await aCall(clinic, { participants: [person] });
  await call.addEgress();
  return {
    clinic,
    call,
    key: person.key,
    says: (consent: boolean | null, more: object = {}) =>
      call.report({ participants: [{ key: person.key, recording_consent: consent, ...more }] }),
    canBeSeen: () => hasRecordings(clinic, call),
  };
}

async function hasRecordings({ client }: Organization, { path }: Pick<Call, "path">): Promise<boolean> {
  return (await given(client.get(`${path}/egresses`))).egresses.length > 0;
}

async function aLiveKitCall() {
  const clinic = await anOrganization();
  const room = await aLiveKitRoom(clinic);
  const path = async () => {
    const owner = `/organization_users/${room.owner.id}/calls`;
    const { calls } = await given(clinic.client.get(owner));
    return { path: `${owner}/${calls[0].id}` };
  };
  const consented = (attributes: Record<string, string> = {}) => ({
    attributes: { recording_consent: "true", ...attributes },
  });
  return { clinic, room, path, consented };
}

describe("GET …/calls/{call_id}/consents", () => {
  it("lists every decision of the participants, oldest first, with its time and method", async () => {
    const clinic = await anOrganization();
    const [rita, ron] = [aRecipient({ joined_at: JOINED_AT }), aRecipient({ recording_consent: undefined })];
    const call = await aCall(clinic, { participants: [rita, ron] });
    const decided = { recording_consent_at: "2026-01-31T10:29:00+01:00", recording_consent_method: " form " };
    await given(call.report({ participants: [{ key: ron.key, recording_consent: false, ...decided }] }));
    await given(
      call.report({
        participants: [
          { key: rita.key, recording_consent: false, recording_consent_at: "2026-02-01T08:00:00Z" },
        ],
      }),
    );
    const consents = await consentsOf(clinic, call);
    const [refusedByRon, grantedByRita] = consents;
    const consent = (
      { participant_id = 0 }: Partial<Consent> = {},
      decision: string,
      decided_at: string,
      method: string | null = null,
    ) => ({ id: expect.any(Number), participant_id, decision, decided_at, method, reported_at: aTimestamp });
    expect(consents).toEqual([
      consent(refusedByRon, "refused", "2026-01-31T09:29:00.000Z", "form"),
      consent(grantedByRita, "granted", JOINED_AT),
      consent(grantedByRita, "withdrawn", "2026-02-01T08:00:00.000Z"),
    ]);
    expect(refusedByRon?.participant_id).not.toBe(grantedByRita?.participant_id);
  });

  it("works during the call, and dates a decision at the call's start if the join time is unknown", async () => {
    const clinic = await anOrganization();
    const call = await aCall(clinic, { ended_at: null });
    expect(await consentsOf(clinic, call)).toMatchObject([
      { decision: "granted", decided_at: STARTED_AT },
      { decision: "granted", decided_at: STARTED_AT },
    ]);
  });

  it("returns an empty list if nobody was asked", async () => {
    const { clinic, call } = await aRecordedCall();
    expect(await consentsOf(clinic, call)).toEqual([]);
  });
});

describe("Consent in PUT …/calls/{key}", () => {
  it("stays withdrawn when earlier reports are repeated", async () => {
    const { clinic, call, key, says, canBeSeen } = await aRecordedCall({ recording_consent: true });
    expect(await canBeSeen()).toBe(true);
    await given(says(false));
    expect(await canBeSeen()).toBe(false);
    const first = { display_name: "Rita Recipient", role: "recipient", joined_at: JOINED_AT };
    await changingNothing(() => given(says(true, first)));
    await changingNothing(() => given(call.report({ participants: [{ key, ...first }] })));
    await given(says(false));
    expect(await decisionsOf(clinic, call)).toEqual(["granted", "withdrawn"]);
    expect(await canBeSeen()).toBe(false);
  });

  it("counts from now if it is a refusal dated in the future, however far", async () => {
    const { clinic, call, says, canBeSeen } = await aRecordedCall({ recording_consent: true });
    const ahead = { recording_consent_at: fromNow(60 * 24 * 365) };
    await given(says(false, ahead));
    await changingNothing(() => given(says(false, ahead)));
    const [, withdrawn] = await consentsOf(clinic, call);
    expect(withdrawn).toMatchObject({ decision: "withdrawn", decided_at: withdrawn?.reported_at });
    expect(await canBeSeen()).toBe(false);
    travelTo(fromNow(1));
    await given(says(true, { recording_consent_at: fromNow(0) }));
    expect(await canBeSeen()).toBe(true);
  });

  it("may be dated up to a minute in the future, but not later", async () => {
    const { clinic, call, says } = await aRecordedCall();
    const refused = await changingNothing(() => says(true, { recording_consent_at: fromNow(62) }));
    expectRefusal(refused, 422, /recording_consent_at: must not be more than 60 seconds in the future/);
    const soon = new Date(Date.now() + 50_000).toISOString();
    await given(says(true, { recording_consent_at: soon }));
    const [granted] = await consentsOf(clinic, call);
    expect(Date.parse(granted?.decided_at ?? "")).toBeLessThanOrEqual(Date.now());
  });

  it("has its time and method ignored without a decision", async () => {
    const { call, key } = await aRecordedCall();
    const time = { recording_consent_at: "2026-01-31T09:30:00Z", recording_consent_method: "form" };
    await changingNothing(() => given(call.report({ participants: [{ key, ...time }] })));
  });

  it("dates the consent.withdrawn event at the time of receipt, whatever the report's reported_at", async () => {
    const granted = { recording_consent: true, recording_consent_at: JOINED_AT };
    const { clinic, call, key } = await aRecordedCall(granted);
    const refused = { participants: [{ key, recording_consent: false }] };
    await given(call.report(refused, { reported_at: "2026-01-31T09:40:00Z" }));
    const { events } = await given(clinic.client.get("/events?type=consent.withdrawn"));
    expect(events).toHaveLength(1);
    expect(Date.parse(events[0].created_at)).toBeGreaterThan(Date.now() - 60_000);
  });
});

it("LiveKit's participant_joined takes a consent's time and method from valid attributes of the participant", async () => {
  const { clinic, room, path, consented } = await aLiveKitCall();
  const said = { recording_consent_at: at(5), recording_consent_method: "verbal" };
  await delivered([room.joined("rita", 8, consented(said)), room.left("rita", 60, 8, consented(said))]);
  expect(await consentsOf(clinic, await path())).toMatchObject([
    { decision: "granted", decided_at: at(5), method: "verbal" },
  ]);
  await delivered([
    room.joined("ron", 9, consented({ recording_consent_at: "soon", recording_consent_method: "a\nb" })),
  ]);
  expect(await consentsOf(clinic, await path())).toMatchObject([
    {},
    { decision: "granted", decided_at: at(9), method: null },
  ]);
});

describe("The consent.withdrawn event", () => {
  const withdrawalsOf = async ({ client }: Organization): Promise<{ data: object }[]> =>
    (await given(client.get("/events?type=consent.withdrawn"))).events;

  it("comes each time a participant withdraws consent, but not for outdated or repeated refusals", async () => {
    const { clinic, call, says } = await aRecordedCall({ recording_consent: false });
    expect(await withdrawalsOf(clinic)).toEqual([]);
    const later = (minutes: number) => ({ recording_consent_at: fromNow(minutes) });
    travelTo(fromNow(60));
    await given(says(true, later(-50)));
    await given(says(false, later(-55)));
    expect(await withdrawalsOf(clinic)).toEqual([]);
    await given(says(false, later(-40)));
    await given(says(false, later(-30)));
    await given(says(true, later(-20)));
    await given(says(false));
    const [{ participant_id } = { participant_id: 0 }] = await consentsOf(clinic, call);
    const data = { organization_user_id: call.owner.id, call_id: call.id, participant_id };
    expect(await withdrawalsOf(clinic)).toMatchObject([{ data }, { data }]);
  });
});
