import { expect, it } from "vitest";
import { aCall, aRecipient, callsOf } from "../support/calls.ts";
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

it("LiveKit's participant_joined takes a consent's time and method from valid attributes of the participant", async () => {
  const clinic = await anOrganization();
  const room = await aLiveKitRoom(clinic);
  const consented = (attributes: object) => ({ attributes: { recording_consent: "true", ...attributes } });
  const said = { recording_consent_at: at(5), recording_consent_method: "verbal" };
  await delivered([room.joined("rita", 8, consented(said)), room.left("rita", 60, 8, consented(said))]);
  const [call] = await callsOf(clinic, room.owner);
  const path = `/organization_users/${room.owner.id}/calls/${call.id}`;
  expect(await consentsOf(clinic, { path })).toMatchObject([
    { decision: "granted", decided_at: at(5), method: "verbal" },
  ]);
  await delivered([
    room.joined("ron", 9, consented({ recording_consent_at: "soon", recording_consent_method: "a\nb" })),
  ]);
  expect(await consentsOf(clinic, { path })).toMatchObject([
    {},
    { decision: "granted", decided_at: at(9), method: null },
  ]);
});

it("The consent.withdrawn event comes each time a participant withdraws consent, dated at the time of receipt, but not for outdated or repeated refusals", async () => {
  const { clinic, call, says } = await aRecordedCall({ recording_consent: false });
  const withdrawals = async () => (await given(clinic.client.get("/events?type=consent.withdrawn"))).events;
  expect(await withdrawals()).toEqual([]);
  const later = (minutes: number) => ({ recording_consent_at: fromNow(minutes) });
  travelTo(fromNow(60));
  await says(true, later(-50));
  await says(false, later(-55));
  expect(await withdrawals()).toEqual([]);
  await says(false, later(-40), { reported_at: fromNow(-10) });
  await says(false, later(-30));
  await says(true, later(-20));
  await says(false);
  const [{ participant_id }] = await consentsOf(clinic, call);
  const data = { organization_user_id: call.owner.id, call_id: call.id, participant_id };
  const events = await withdrawals();
  expect(events).toMatchObject([{ data }, { data }]);
  for (const { created_at } of events) expect(Date.parse(created_at)).toBeGreaterThan(Date.now() - 60_000);
});
