/**
 * The platform door's operations, with requests that succeed. A report costs differently the first time, so that its
 * route has several examples: what comes after the comma tells them apart.
 */
import { AN_HOUR, type Clinic, DAYS_AGO, unique } from "./clinic.ts";
import { aRoom, type Example, newInvite, once, tokenOf } from "./example_parts.ts";
import { spokenLines } from "./speech.ts";

/** A few minutes of conversation. */
const SHORT = 50;

export const platformExamples: Record<string, Example> = {
  "PUT /waiting_rooms/:slug/participants/:key, first": (clinic) => aParticipant(clinic),
  "PUT /waiting_rooms/:slug/participants/:key, repeated": (clinic) => repeated(clinic, aParticipant(clinic)),
  "PUT /waiting_rooms/:slug/participants/:key, leaving": async (clinic) => ({
    ...(await repeated(clinic, aParticipant(clinic))),
    body: { participant: { left_at: DAYS_AGO(0) } },
  }),
  "PUT /calls/:key, first": (clinic) => aCall(clinic),
  "PUT /calls/:key, repeated": (clinic) => repeated(clinic, aCall(clinic)),
  "PUT /calls/:key, ending": async (clinic) => ({
    ...(await repeated(clinic, aCall(clinic))),
    body: { call: { ended_at: DAYS_AGO(0.9) } },
  }),
  [`PUT /calls/:key/transcript, ${AN_HOUR} lines`]: (clinic) => aTranscript(clinic, AN_HOUR),
  [`PUT /calls/:key/transcript, ${SHORT} lines`]: (clinic) => aTranscript(clinic, SHORT),
  "PUT /calls/:key/soap_note": (clinic) => aSoapNote(clinic),
  "PUT /egresses/:egress_id, first": (clinic) => anEgress(clinic),
  "PUT /egresses/:egress_id, ending": (clinic) => anEndedEgress(clinic),
  "PUT /egresses/:egress_id, repeated": async (clinic) => repeated(clinic, anEgress(clinic)),
  "DELETE /calls/:key/transcript": async (clinic) => ({
    path: (await repeated(clinic, aTranscript(clinic, AN_HOUR))).path,
  }),
  "DELETE /calls/:key/soap_note": async (clinic) => ({
    path: (await repeated(clinic, aSoapNote(clinic))).path,
  }),
  "DELETE /egresses/:egress_id": async (clinic) => ({
    path: (await repeated(clinic, anEndedEgress(clinic))).path,
  }),

  "GET /waiting_rooms/:slug": async (clinic) => ({ path: await roomWithSub(clinic) }),
  "GET /organizations": () => ({ path: "/organizations" }),
  "GET /organizations/:id": ({ id }) => ({ path: `/organizations/${id}` }),
  "PUT /organizations/:id": ({ id }) => ({
    path: `/organizations/${id}`,
    body: { organization: { recording_retention_days: 365, transcript_retention_days: null } },
  }),
  "POST /organizations": () => ({
    path: "/organizations",
    body: { organization: { name: `Clinic ${unique()}` } },
  }),
  "GET /organizations/:id/users": ({ id }) => ({ path: `/organizations/${id}/users` }),
  "POST /organizations/:id/users": ({ id }) => ({
    path: `/organizations/${id}/users`,
    body: {
      user: { email: `${unique()}@example.com`, display_name: `Paul ${unique()}`, roles: ["provider"] },
    },
  }),
  "PUT /organizations/:id/users/:organization_user_id": async (clinic) => ({
    path: await newMember(clinic),
    body: { user: { roles: ["provider", "organization_admin"] } },
  }),
  "DELETE /organizations/:id/users/:organization_user_id": async (clinic) => ({
    path: await newMember(clinic),
  }),
  "GET /organizations/:id/api_clients": ({ id }) => ({ path: `/organizations/${id}/api_clients` }),
  "POST /organizations/:id/api_clients": (clinic) => anApiClient(clinic),
  "DELETE /api_clients/:id": async (clinic) => {
    const { path, body } = anApiClient(clinic);
    return { path: `/api_clients/${(await clinic.platform("POST", path, body)).id}` };
  },
  "GET /organizations/:id/issuers": async (clinic) => ({ path: await issuersOf(clinic) }),
  "POST /organizations/:id/issuers": (clinic) => anIssuer(clinic),
  "DELETE /issuers/:id": async (clinic) => {
    const { path, body } = anIssuer(clinic);
    return { path: `/issuers/${(await clinic.platform("POST", path, body)).id}` };
  },
  "POST /authorization_codes/redeem": async (clinic) => ({
    path: "/authorization_codes/redeem",
    body: await clinic.client("POST", "/auth/token_exchange", {
      token_exchange: { token: await tokenOf(clinic) },
    }),
  }),
  "GET /invites/:id": async (clinic) => ({ path: await inviteOf(clinic) }),
  "POST /invites/accept": async (clinic) => {
    const { accept_url } = await clinic.platform("GET", await newInvite(clinic));
    return { path: "/invites/accept", body: { token: new URL(accept_url).searchParams.get("token") } };
  },
};

/** Platform operations for which no floor is written. */
export const WITHOUT_FLOOR = [
  "POST /invites/accept",
  "PUT /organizations/:id/users/:organization_user_id",
  "DELETE /organizations/:id/users/:organization_user_id",
  "DELETE /calls/:key/transcript",
  "DELETE /calls/:key/soap_note",
  "DELETE /egresses/:egress_id",
];

interface Report<Body extends object> {
  path: string;
  body: Body;
}

/** The same report after it has been made once. */
async function repeated<Body extends object>(
  { platform }: Clinic,
  made: Report<Body> | Promise<Report<Body>>,
) {
  const report = await made;
  await platform("PUT", report.path, report.body);
  return report;
}

const aParticipant = ({ slug }: Clinic) => ({
  path: `/waiting_rooms/${slug}--seeded-3/participants/${unique()}`,
  body: { participant: { display_name: "Rita Recipient", role: "recipient", waiting_since: DAYS_AGO(0.1) } },
});

/** A call of one who waited and one who did not. */
function aCall({ provider }: Clinic) {
  const [speaker, listener] = [unique(), unique()];
  const joined_at = DAYS_AGO(0.99);
  const participants = [
    { key: speaker, display_name: "Paula Provider", role: "provider", joined_at, recording_consent: true },
    {
      key: listener,
      display_name: "Rita Recipient",
      role: "recipient",
      waiting_since: DAYS_AGO(1.01),
      joined_at,
      recording_consent: true,
    },
  ];
  const call = {
    waiting_room_slug: provider.waiting_room_slug,
    organization_user_id: provider.id,
    started_at: DAYS_AGO(1),
    participants,
  };
  return { path: `/calls/${unique()}`, body: { call } };
}

async function aTranscript(clinic: Clinic, length: number) {
  const { path, body } = await repeated(clinic, aCall(clinic));
  const lines = spokenLines(
    body.call.participants.map(({ key }) => key),
    length,
  );
  return {
    path: `${path}/transcript`,
    body: { transcript: { summary: "A follow-up.", is_final: true, lines } },
  };
}

const callOf = once(async (clinic) => {
  const { path } = await repeated(clinic, aCall(clinic));
  return path.split("/").at(-1);
});

const anEgress = async (clinic: Clinic) => ({
  path: `/egresses/${unique()}`,
  body: { egress: { call_key: await callOf(clinic), status: "egress_starting" } },
});

const aSoapNote = async (clinic: Clinic) => ({
  path: `${(await repeated(clinic, aCall(clinic))).path}/soap_note`,
  body: { soap_note: { text: "Subjective: feels better.\nObjective: 128/82 at home.", is_final: true } },
});

/** The end of a recording that was reported before. Each has a file of its own: a shared one is not deleted. */
async function anEndedEgress(clinic: Clinic) {
  const { path, body } = await repeated(clinic, anEgress(clinic));
  const ended = {
    status: "egress_ended",
    is_stopped: true,
    ended_at: DAYS_AGO(0.9),
    storage_key: `${unique()}.mp4`,
  };
  return { path, body: { egress: { ...body.egress, ...ended } } };
}

/** The path of a provider who has just been added. */
async function newMember({ id, platform }: Clinic) {
  const user = { email: `${unique()}@example.com`, display_name: `Paul ${unique()}`, roles: ["provider"] };
  const { id: member } = await platform("POST", `/organizations/${id}/users`, { user });
  return `/organizations/${id}/users/${member}`;
}

/** A room with a sub that is going on. */
const roomWithSub = once(async (clinic) => {
  const path = await aRoom(clinic);
  const sub = { user_id: clinic.provider.user_id, datetime_start: DAYS_AGO(0.5) };
  await clinic.client("POST", `${path}/waiting_room_subs`, { waiting_room_sub: sub });
  return path;
});

const inviteOf = once(newInvite);

const anApiClient = ({ id, admin }: Clinic) => ({
  path: `/organizations/${id}/api_clients`,
  body: { api_client: { name: "Integration", organization_user_id: admin.id } },
});

const issuersOf = once(async (clinic) => {
  const { path, body } = anIssuer(clinic);
  await clinic.platform("POST", path, body);
  return path;
});

function anIssuer({ id }: Clinic) {
  const issuer = `https://${unique()}.test`;
  return {
    path: `/organizations/${id}/issuers`,
    body: { issuer: { issuer, audience: "video-visits", jwks_url: `${issuer}/jwks` } },
  };
}
