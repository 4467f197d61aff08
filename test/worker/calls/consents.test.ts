import { describe, expect, it } from "vitest";
import { aCall, aRecipient, type Call } from "../support/calls.ts";
import { aLiveKitRoom, at, delivered } from "../support/livekit.ts";
import { anOrganization, given, type Organization } from "../support/organization.ts";
import { fromNow, travelTo } from "../support/time.ts";

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

describe("Consent in PUT …/calls/{key}", () => {
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
