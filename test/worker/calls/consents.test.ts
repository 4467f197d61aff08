import { describe, expect, it } from "vitest";
import { aCall, aRecipient } from "../support/calls.ts";
import { aLiveKitRoom, at, delivered } from "../support/livekit.ts";
import { anOrganization, given, type Organization } from "../support/organization.ts";
import { fromNow, travelTo } from "../support/time.ts";

const JOINED_AT = "2026-01-31T09:31:00.000Z";

const consentsOf = async ({ client }: Organization, { path }: { path: string }) =>
  (await given(client.get(`${path}/consents`))).consents;

/** An ended call with a recording and a single participant, whose consent the test chooses. */
async function aRecordedCall(rita: object = {}) {
  const clinic = await anOrganization();
  const person = aRecipient({ joined_at: JOINED_AT, recording_consent: undefined, ...rita });
  const call = await aCall(clinic, { participants: [person] });
  await call.addEgress();
  const says = (recording_consent: boolean, more: object = {}, made: object = {}) =>
    given(call.report({ participants: [{ key: person.key, recording_consent, ...more }] }, made));
  return { clinic, call, says };
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

it("Consent in PUT …/calls/{key} dates the consent.withdrawn event at the time of receipt, whatever the report's reported_at", async () => {
  const granted = { recording_consent: true, recording_consent_at: JOINED_AT };
  const { clinic, says } = await aRecordedCall(granted);
  await says(false, {}, { reported_at: "2026-01-31T09:40:00Z" });
  const { events } = await given(clinic.client.get("/events?type=consent.withdrawn"));
  expect(events).toHaveLength(1);
  expect(Date.parse(events[0].created_at)).toBeGreaterThan(Date.now() - 60_000);
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
    await says(true, later(-50));
    await says(false, later(-55));
    expect(await withdrawalsOf(clinic)).toEqual([]);
    await says(false, later(-40));
    await says(false, later(-30));
    await says(true, later(-20));
    await says(false);
    const [{ participant_id }] = await consentsOf(clinic, call);
    const data = { organization_user_id: call.owner.id, call_id: call.id, participant_id };
    expect(await withdrawalsOf(clinic)).toMatchObject([{ data }, { data }]);
  });
});
