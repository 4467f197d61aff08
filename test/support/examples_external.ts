import {
  anInvite,
  aPendingInvite,
  aPlan,
  aProvider,
  aRoom,
  aVisit,
  below,
  type Clinic,
  type MakeExample,
  unique,
} from "./clinic.ts";
import { anEndedCall, anEndedEgress, aSoapNote, aTranscript, reported } from "./reports.ts";

const ENDPOINT_URL = "https://hooks.example.com/visits";

const CALL = "/organization_users/:organization_user_id/calls/:call_id";

export const externalExamples: Record<string, MakeExample> = {
  ...below("", () => "", {
    "GET /organization_users": null,
    "GET /usage": null,
    "POST /token_checks": async ({ signIn }) => ({ token_check: { token: await signIn() } }),
    "GET /api_client": null,
    "GET /api_clients": null,
    "GET /waiting_rooms": null,
    "POST /waiting_rooms": () => ({ waiting_room: { name: unique("Oncology"), is_active: true } }),
    "GET /visit_metrics": null,
    "GET /call_metrics": null,
    "GET /roles": null,
    "GET /organization": null,
    "PUT /organization": { organization: { recording_retention_days: 365 } },
    "POST /invites": () => ({ organization_invite: anInvite() }),
    "POST /invites/bulk_create": () => aBulkInvite(),
    "GET /access_log_seals": null,
    "GET /access_logs": null,
    "GET /events": null,
  }),
  ...below("", existing(anEndedCall), { "GET /calls": null, "GET /egresses": null }),
  ...below("", existing(aVisit), { "GET /visits": null }),
  ...below("", existing(aPendingInvite), { "GET /invites": null }),
  ...below("", existing(anEndpoint), { "GET /webhook_endpoints": null }),
  ...below("", existing(makeRoomForEndpoint), {
    "POST /webhook_endpoints": { webhook_endpoint: { url: ENDPOINT_URL } },
  }),
  ...below(
    "/organization_users/:id",
    async (clinic) => `/organization_users/${(await aProvider(clinic)).id}`,
    {
      GET: null,
      PUT: { organization_user: { display_name: "Dr. Paula", roles: ["provider_assistant"] } },
      DELETE: null,
    },
  ),
  "POST /api_clients": (clinic) => anApiClient(clinic),
  "DELETE /api_clients/:id": async (clinic) => {
    const { path, body } = await anApiClient(clinic);
    return { path: `${path}/${(await clinic.client("POST", path, body)).id}` };
  },
  ...below("/waiting_rooms/:slug", aRoom, {
    GET: null,
    PUT: { waiting_room: { name: "Renamed", is_active: false } },
    DELETE: null,
    "GET /participants": null,
  }),
  ...below("/waiting_rooms/:waiting_room_slug/waiting_room_subs", roomOfSubs, { GET: null, POST: aSub }),
  ...below("/waiting_rooms/:waiting_room_slug/waiting_room_subs/:id", anAddedSub, {
    PUT: { waiting_room_sub: { user_id: null } },
    DELETE: null,
  }),
  "GET /organization_users/:organization_user_id/calls": async (clinic) => ({
    path: (await aCall(clinic)).replace(/\/\d+$/, ""),
  }),
  ...below(CALL, aCall, {
    GET: null,
    PUT: () => ({ call: { external_reference: unique("visit") } }),
    "GET /participants": null,
    "GET /consents": null,
    "PUT /legal_hold": { legal_hold: { reason: "Case 2026-118" } },
  }),
  ...below(CALL, aHeldCall, { "DELETE /legal_hold": null }),
  [`PUT ${CALL}/participants/:participant_id`]: async (clinic) => {
    const path = `${await aCall(clinic)}/participants`;
    const { participants } = await clinic.client("GET", path);
    return {
      path: `${path}/${participants[0].id}`,
      body: { participant: { external_reference: unique("patient") } },
    };
  },
  "DELETE /participants": async (clinic) => ({
    path: `/participants?external_reference=${await aPatient(clinic)}`,
  }),
  "GET /participants/export": async () => ({ path: "/participants/export?external_reference=patient-1" }),
  "POST /visits": async (clinic) => ({ path: "/visits", body: await aPlan(clinic), statusForOthers: 422 }),
  ...below("/visits/:id", async (clinic) => (await aVisit(clinic)).path, {
    GET: null,
    PUT: () => ({ visit: { external_reference: unique("visit") } }),
    DELETE: null,
  }),
  ...below(`${CALL}/transcript`, async (clinic) => (await aFinalTranscript(clinic)).path, {
    GET: null,
    "GET /versions": null,
    DELETE: null,
  }),
  [`PUT ${CALL}/transcript`]: async (clinic) => {
    const { path, result } = await aFinalTranscript(clinic);
    const lines = [{ id: result.transcript_lines[0].id, text: "Good evening." }];
    return { path, body: { transcript: { lines, reason: "Misheard" } } };
  },
  ...below(`${CALL}/soap_note`, aFinalSoapNote, {
    GET: null,
    PUT: { soap_note: { text: "Subjective: feels worse.", reason: "Misheard" } },
    "GET /versions": null,
    DELETE: null,
  }),
  [`GET ${CALL}/egresses`]: async (clinic) => ({ path: (await aRecording(clinic)).replace(/\/\d+$/, "") }),
  ...below(`${CALL}/egresses/:id`, aRecording, { GET: null, DELETE: null }),
  ...below(`${CALL}/egresses/:egress_id`, aRecording, { "GET /audit_logs": null }),
  "POST /auth/token_exchange": async ({ signIn }) => ({
    path: "/auth/token_exchange",
    body: { token_exchange: { token: await signIn() } },
    statusForOthers: 401,
  }),
  ...below("/invites/:id", async (clinic) => `/invites/${(await aPendingInvite(clinic)).id}`, {
    GET: null,
    DELETE: null,
  }),
  ...below("/invites/:id", anOldInvite, { "POST /resend": null }),
  "GET /bulk_invites/:id": async ({ client }) => {
    const { bulk_invite } = await client("POST", "/invites/bulk_create", aBulkInvite());
    return { path: `/bulk_invites/${bulk_invite.id}` };
  },
  "GET /access_logs/:date": async ({ aSealedDay }) => ({ path: `/access_logs/${await aSealedDay()}` }),
  ...below("/webhook_endpoints/:id", (clinic) => anEndpoint(clinic), {
    GET: null,
    PUT: { webhook_endpoint: { url: "https://other.example.com", event_types: ["call.ended"] } },
    DELETE: null,
    "POST /rotate_secret": null,
    "GET /deliveries": null,
    "POST /redeliver": { after: 0 },
  }),
  ...below("/webhook_endpoints/:id", (clinic) => anEndpoint(clinic, clinic.aReceiver()), {
    "POST /ping": null,
  }),
};

/** Makes a thing that the path does not name. */
function existing(make: (clinic: Clinic) => Promise<unknown>) {
  return async (clinic: Clinic) => {
    await make(clinic);
    return "";
  };
}

/** The reference of a new patient, who took part in a call that has ended. */
async function aPatient(clinic: Clinic): Promise<string> {
  const external_reference = unique("patient");
  const { path, speakers } = await anEndedCall(clinic);
  await clinic.platform("PUT", path, { call: { participants: [{ key: speakers[1], external_reference }] } });
  return external_reference;
}

/** The path of an ended call. */
async function aCall(clinic: Clinic): Promise<string> {
  return (await anEndedCall(clinic)).results;
}

async function aHeldCall(clinic: Clinic): Promise<string> {
  const path = await aCall(clinic);
  await clinic.client("PUT", `${path}/legal_hold`, { legal_hold: {} });
  return path;
}

/** The path of an invite that is old enough to be sent again. */
async function anOldInvite(clinic: Clinic): Promise<string> {
  const invite = await aPendingInvite(clinic);
  await clinic.letAge(invite);
  return `/invites/${invite.id}`;
}

async function aFinalTranscript(clinic: Clinic) {
  const call = await anEndedCall(clinic);
  const { result } = await reported(clinic, aTranscript(call));
  return { path: `${call.results}/transcript`, result };
}

async function aFinalSoapNote(clinic: Clinic): Promise<string> {
  const call = await anEndedCall(clinic);
  await reported(clinic, aSoapNote(call));
  return `${call.results}/soap_note`;
}

const anApiClient = async (clinic: Clinic) => ({
  path: "/api_clients",
  body: { api_client: { name: "Second system", organization_user_id: (await aProvider(clinic)).id } },
  statusForOthers: 422,
});

async function roomOfSubs(clinic: Clinic): Promise<string> {
  return `${await aRoom(clinic)}/waiting_room_subs`;
}

async function aSub(clinic: Clinic) {
  const { user_id } = await aProvider(clinic);
  return { waiting_room_sub: { user_id, datetime_start: "2126-01-31T09:30:00Z" } };
}

async function anAddedSub(clinic: Clinic): Promise<string> {
  const path = await roomOfSubs(clinic);
  return `${path}/${(await clinic.client("POST", path, await aSub(clinic))).id}`;
}

/** The path of a recording that the organization may see. */
async function aRecording(clinic: Clinic): Promise<string> {
  const call = await anEndedCall(clinic);
  const { result } = await reported(clinic, anEndedEgress(call));
  return `${call.results}/egresses/${result.id}`;
}

const aBulkInvite = () => ({ organization_invites: [anInvite(), anInvite()] });

async function anEndpoint(clinic: Clinic, url = ENDPOINT_URL): Promise<string> {
  await makeRoomForEndpoint(clinic);
  const { id } = await clinic.client("POST", "/webhook_endpoints", { webhook_endpoint: { url } });
  return `/webhook_endpoints/${id}`;
}

/** An organization may have ten endpoints, so the oldest one is deleted. */
async function makeRoomForEndpoint({ client }: Clinic) {
  const { webhook_endpoints } = await client("GET", "/webhook_endpoints");
  if (webhook_endpoints.length === 10)
    await client("DELETE", `/webhook_endpoints/${webhook_endpoints[0].id}`);
}
