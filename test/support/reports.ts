/** Reports of the platform API, each the first of its kind. */
import { aProvider, type Clinic, unique } from "./clinic.ts";

interface Report<Body extends object> {
  path: string;
  body: Body;
}

/** Sends a report, and returns it with its result. */
export async function reported<Body extends object>(
  { platform }: Clinic,
  making: Report<Body> | Promise<Report<Body>>,
) {
  const report = await making;
  return { ...report, result: await platform("PUT", report.path, report.body) };
}

/**
 * A call in progress, of two people who agree to a recording.
 *
 * @param owner a provider with a personal room; by default a new one
 */
export async function aCall(clinic: Clinic, owner?: { id: number; waiting_room_slug: string }) {
  const { id, waiting_room_slug } = owner ?? (await aProvider(clinic));
  const joined_at = "2026-01-31T09:30:00Z";
  // The keys are short, so that the longest allowed transcript fits into a body.
  const participants = [
    {
      key: unique("p"),
      display_name: "Paula Provider",
      role: "provider",
      joined_at,
      recording_consent: true,
    },
    {
      key: unique("p"),
      display_name: "Rita Recipient",
      role: "recipient",
      waiting_since: "2026-01-31T09:20:00Z",
      joined_at,
      recording_consent: true,
    },
  ];
  const call = { waiting_room_slug, organization_user_id: id, started_at: joined_at, participants };
  return { path: `/organizations/${clinic.id}/calls/${unique("call")}`, body: { call } };
}

const ended_at = "2026-01-31T10:30:00Z";

/** A call that was reported and has ended. `results` is its path in the external API. */
export async function anEndedCall(clinic: Clinic, owner?: { id: number; waiting_room_slug: string }) {
  const { path, body } = await aCall(clinic, owner);
  const { result } = await reported(clinic, { path, body: { call: { ...body.call, ended_at } } });
  return {
    path,
    organization: { path: `/organizations/${clinic.id}`, slug: clinic.slug },
    key: path.split("/").at(-1) ?? "",
    speakers: body.call.participants.map(({ key }) => key),
    results: `/organization_users/${result.organization_user_id}/calls/${result.id}`,
  };
}

export type EndedCall = Awaited<ReturnType<typeof anEndedCall>>;

export const aTranscript = (
  { path, speakers: [participant_key] }: EndedCall,
  lines: object[] = [{ participant_key, text: "Good morning.", start_time: 0, end_time: 1.5 }],
) => ({
  path: `${path}/transcript`,
  body: { transcript: { summary: "A greeting.", is_final: true, lines } },
});

export const aHold = ({ path }: EndedCall) => ({
  path: `${path}/legal_hold`,
  body: { legal_hold: { reason: "Case 2026-118 of the district court" } },
});

export const aSoapNote = ({ path }: EndedCall) => ({
  path: `${path}/soap_note`,
  body: { soap_note: { text: "Subjective: feels better.\nObjective: 128/82 at home.", is_final: true } },
});

export const anEgress = ({ key, organization }: EndedCall) => ({
  path: `${organization.path}/egresses/${unique("egress")}`,
  body: { egress: { call_key: key, status: "egress_starting" } },
});

export const anEndedEgress = ({ key, organization }: EndedCall) => ({
  path: `${organization.path}/egresses/${unique("egress")}`,
  body: {
    egress: {
      call_key: key,
      status: "egress_ended",
      is_stopped: true,
      ended_at,
      storage_key: `${organization.slug}/${unique("file")}.mp4`,
    },
  },
});
