import { platform } from "./api.ts";
import { given, type Organization, unique } from "./organization.ts";

export const WAITING_SINCE = "2026-01-31T09:20:00.000Z";
export const STARTED_AT = "2026-01-31T09:30:00.000Z";
export const ENDED_AT = "2026-01-31T10:00:00.000Z";

export const minutesAfterStart = (minutes: number) =>
  new Date(Date.parse(STARTED_AT) + minutes * 60_000).toISOString();

export const aProviderOnTheCall = (more: object = {}) => ({
  key: unique("participant"),
  display_name: "Paula Provider",
  role: "provider",
  recording_consent: true,
  ...more,
});

export const aRecipient = (more: object = {}) => ({
  key: unique("participant"),
  display_name: "Rita Recipient",
  role: "recipient",
  recording_consent: true,
  ...more,
});

type Reporter = Pick<Organization, "platform">;

/** @param made fields beside the call, for example `reported_at` */
export const reportCall = ({ platform }: Reporter, key: string, call: object, made: object = {}) =>
  platform.put(`/calls/${encodeURIComponent(key)}`, { call, ...made });

export const reportEgress = ({ platform }: Reporter, egress_id: string, egress: object) =>
  platform.put(`/egresses/${encodeURIComponent(egress_id)}`, { egress });

/**
 * Reports a call of the organization. By default, it has ended and everybody consented to the recording. `path` is the call's
 * path in the external API, and `url` the one in the platform API. `report` reports the call again.
 *
 * @param by the organization user who holds the call; by default a new provider
 */
export async function aCall(organization: Organization, call: object = {}, by?: { id: number }) {
  const key = unique("call");
  const owner: { id: number } = by ?? (await organization.addProvider());
  const room = await organization.addRoom();
  const participants = [aProviderOnTheCall(), aRecipient()] as const;
  const { platform } = organization;
  const report = (more: object, made: object = {}) => reportCall(organization, key, more, made);
  const reported = await given(
    report({
      waiting_room_slug: room.slug,
      organization_user_id: owner.id,
      started_at: STARTED_AT,
      ended_at: ENDED_AT,
      participants,
      ...call,
    }),
  );
  return {
    key,
    id: reported.id as number,
    owner,
    room,
    participants,
    url: `/organizations/${organization.id}/calls/${key}`,
    path: `/organization_users/${owner.id}/calls/${reported.id}`,
    report,
    reportTranscript: (transcript: object, made: object = {}) =>
      platform.put(`/calls/${key}/transcript`, { transcript, ...made }),
    reportSoapNote: (soap_note: object, made: object = {}) =>
      platform.put(`/calls/${key}/soap_note`, { soap_note, ...made }),
    hold: (legal_hold: object = {}) => platform.put(`/calls/${key}/legal_hold`, { legal_hold }),
    release: () => platform.delete(`/calls/${key}/legal_hold`),
    /** Reports a recording of the call, by default one with a file. */
    addEgress: (egress: object = {}, egress_id = unique("egress")) =>
      given(
        reportEgress(organization, egress_id, {
          call_key: key,
          status: "egress_ended",
          is_stopped: true,
          ended_at: ENDED_AT,
          storage_key: `${organization.slug}/${egress_id}.wav`,
          ...egress,
        }),
      ),
  };
}

export const callsOf = async ({ client }: Organization, { id }: { id: number }) =>
  (await given(client.get(`/organization_users/${id}/calls`))).calls;

/** Reads a participant through a report that changes nothing. */
export const knownParticipant = (slug: string, key: string) =>
  given(platform.put(`/waiting_rooms/${slug}/participants/${encodeURIComponent(key)}`, { participant: {} }));

export const waitingCount = async ({ client }: Organization, slug: string) =>
  (await given(client.get(`/waiting_rooms/${slug}`))).waiting_count;

export type Call = Awaited<ReturnType<typeof aCall>>;

/** Paths whose ids are not integers. */
export function malformedPaths({ id, key, owner }: Call): string[] {
  const own = `/organization_users/${owner.id}`;
  return [`${own}/calls/${key}`, `${own}/calls/${id}.0`, `/organization_users/x/calls/${id}`];
}

/** Paths that must not find the call: with another call, another organization user, or an unknown id. */
export function inaccessiblePaths(call: Call, other: Call, colleague: { id: number }): string[] {
  const own = `/organization_users/${call.owner.id}`;
  return [
    other.path,
    `${own}/calls/${other.id}`,
    `/organization_users/${colleague.id}/calls/${call.id}`,
    `/organization_users/${other.owner.id}/calls/${call.id}`,
    `/organization_users/999999999/calls/${call.id}`,
    `${own}/calls/999999999`,
    `${own}/calls/0`,
  ];
}

export const wrongPaths = (call: Call, other: Call, colleague: { id: number }) => [
  ...inaccessiblePaths(call, other, colleague),
  ...malformedPaths(call),
];
