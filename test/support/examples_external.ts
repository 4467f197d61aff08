import {
  anInvite,
  anOldInvite,
  aPendingInvite,
  aPlan,
  aProvider,
  aRoom,
  aVisit,
  type Clinic,
  type MakeExample,
  unique,
} from "./clinic.ts";
import { anEndedCall, anEndedEgress, aSoapNote, aTranscript, reported } from "./reports.ts";

export const externalExamples: Record<string, MakeExample> = {
  "GET /organization_users": async () => ({ path: "/organization_users" }),
  "GET /organization_users/:id": async (clinic) => ({ path: await aMember(clinic) }),
  "PUT /organization_users/:id": async (clinic) => ({
    path: await aMember(clinic),
    body: { organization_user: { display_name: "Dr. Paula", roles: ["provider_assistant"] } },
  }),
  "DELETE /organization_users/:id": async (clinic) => ({ path: await aMember(clinic) }),
  "POST /token_checks": async ({ signIn }) => ({
    path: "/token_checks",
    body: { token_check: { token: await signIn() } },
  }),
  "GET /usage": async () => ({ path: "/usage" }),
  "GET /api_client": async () => ({ path: "/api_client" }),
  "GET /api_clients": async () => ({ path: "/api_clients" }),
  "POST /api_clients": (clinic) => anApiClient(clinic),
  "DELETE /api_clients/:id": async (clinic) => {
    const { path, body } = await anApiClient(clinic);
    return { path: `${path}/${(await clinic.client("POST", path, body)).id}` };
  },
  "GET /waiting_rooms": async () => ({ path: "/waiting_rooms" }),
  "POST /waiting_rooms": async () => ({
    path: "/waiting_rooms",
    body: { waiting_room: { name: unique("Oncology"), is_active: true } },
  }),
  "GET /waiting_rooms/:slug": async (clinic) => ({ path: await aRoom(clinic) }),
  "PUT /waiting_rooms/:slug": async (clinic) => ({
    path: await aRoom(clinic),
    body: { waiting_room: { name: "Renamed", is_active: false } },
  }),
  "DELETE /waiting_rooms/:slug": async (clinic) => ({ path: await aRoom(clinic) }),
  "GET /waiting_rooms/:waiting_room_slug/waiting_room_subs": async (clinic) => ({
    path: `${await aRoom(clinic)}/waiting_room_subs`,
  }),
  "POST /waiting_rooms/:waiting_room_slug/waiting_room_subs": (clinic) => aSub(clinic),
  "PUT /waiting_rooms/:waiting_room_slug/waiting_room_subs/:id": async (clinic) => ({
    path: await anAddedSub(clinic),
    body: { waiting_room_sub: { user_id: null } },
  }),
  "DELETE /waiting_rooms/:waiting_room_slug/waiting_room_subs/:id": async (clinic) => ({
    path: await anAddedSub(clinic),
  }),
  "GET /organization_users/:organization_user_id/calls": async (clinic) => ({
    path: (await anEndedCall(clinic)).results.replace(/\/\d+$/, ""),
  }),
  "GET /calls": async (clinic) => {
    await anEndedCall(clinic);
    return { path: "/calls" };
  },
  "GET /egresses": async (clinic) => {
    await anEndedCall(clinic);
    return { path: "/egresses" };
  },
  "GET /organization_users/:organization_user_id/calls/:call_id": async (clinic) => ({
    path: (await anEndedCall(clinic)).results,
  }),
  "PUT /organization_users/:organization_user_id/calls/:call_id": async (clinic) => ({
    path: (await anEndedCall(clinic)).results,
    body: { call: { external_reference: unique("visit") } },
  }),
  "PUT /organization_users/:organization_user_id/calls/:call_id/participants/:participant_id": async (
    clinic,
  ) => {
    const { results } = await anEndedCall(clinic);
    const { participants } = await clinic.client("GET", `${results}/participants`);
    return {
      path: `${results}/participants/${participants[0].id}`,
      body: { participant: { external_reference: unique("patient") } },
    };
  },
  "GET /organization_users/:organization_user_id/calls/:call_id/participants": async (clinic) => ({
    path: `${(await anEndedCall(clinic)).results}/participants`,
  }),
  "DELETE /participants": async (clinic) => ({
    path: `/participants?external_reference=${await aPatient(clinic)}`,
  }),
  "GET /waiting_rooms/:slug/participants": async (clinic) => ({
    path: `${await aRoom(clinic)}/participants`,
  }),
  "GET /visits": async (clinic) => {
    await aVisit(clinic);
    return { path: "/visits" };
  },
  "POST /visits": async (clinic) => ({ path: "/visits", body: await aPlan(clinic), statusForOthers: 422 }),
  "GET /visits/:id": async (clinic) => ({ path: (await aVisit(clinic)).path }),
  "PUT /visits/:id": async (clinic) => ({
    path: (await aVisit(clinic)).path,
    body: { visit: { external_reference: unique("visit") } },
  }),
  "DELETE /visits/:id": async (clinic) => ({ path: (await aVisit(clinic)).path }),
  "GET /visit_metrics": async () => ({ path: "/visit_metrics" }),
  "GET /call_metrics": async () => ({ path: "/call_metrics" }),
  "GET /organization_users/:organization_user_id/calls/:call_id/transcript": async (clinic) => ({
    path: (await aFinalTranscript(clinic)).path,
  }),
  "PUT /organization_users/:organization_user_id/calls/:call_id/transcript": async (clinic) => {
    const { path, result } = await aFinalTranscript(clinic);
    const lines = [{ id: result.transcript_lines[0].id, text: "Good evening." }];
    return { path, body: { transcript: { lines, reason: "Misheard" } } };
  },
  "GET /organization_users/:organization_user_id/calls/:call_id/transcript/versions": async (clinic) => ({
    path: `${(await aFinalTranscript(clinic)).path}/versions`,
  }),
  "DELETE /organization_users/:organization_user_id/calls/:call_id/transcript": async (clinic) => ({
    path: (await aFinalTranscript(clinic)).path,
  }),
  "GET /organization_users/:organization_user_id/calls/:call_id/soap_note": async (clinic) => ({
    path: await aFinalSoapNote(clinic),
  }),
  "PUT /organization_users/:organization_user_id/calls/:call_id/soap_note": async (clinic) => ({
    path: await aFinalSoapNote(clinic),
    body: { soap_note: { text: "Subjective: feels worse.", reason: "Misheard" } },
  }),
  "GET /organization_users/:organization_user_id/calls/:call_id/soap_note/versions": async (clinic) => ({
    path: `${await aFinalSoapNote(clinic)}/versions`,
  }),
  "DELETE /organization_users/:organization_user_id/calls/:call_id/soap_note": async (clinic) => ({
    path: await aFinalSoapNote(clinic),
  }),
  "PUT /organization_users/:organization_user_id/calls/:call_id/legal_hold": async (clinic) => ({
    path: `${(await anEndedCall(clinic)).results}/legal_hold`,
    body: { legal_hold: { reason: "Case 2026-118" } },
  }),
  "DELETE /organization_users/:organization_user_id/calls/:call_id/legal_hold": async (clinic) => {
    const path = `${(await anEndedCall(clinic)).results}/legal_hold`;
    await clinic.client("PUT", path, { legal_hold: {} });
    return { path };
  },
  "GET /organization_users/:organization_user_id/calls/:call_id/consents": async (clinic) => ({
    path: `${(await anEndedCall(clinic)).results}/consents`,
  }),
  "GET /organization_users/:organization_user_id/calls/:call_id/egresses": async (clinic) => ({
    path: (await aRecording(clinic)).replace(/\/\d+$/, ""),
  }),
  "GET /organization_users/:organization_user_id/calls/:call_id/egresses/:id": async (clinic) => ({
    path: await aRecording(clinic),
  }),
  "DELETE /organization_users/:organization_user_id/calls/:call_id/egresses/:id": async (clinic) => ({
    path: await aRecording(clinic),
  }),
  "GET /organization_users/:organization_user_id/calls/:call_id/egresses/:egress_id/audit_logs": async (
    clinic,
  ) => ({ path: `${await aRecording(clinic)}/audit_logs` }),
  "POST /auth/token_exchange": async ({ signIn }) => ({
    path: "/auth/token_exchange",
    body: { token_exchange: { token: await signIn() } },
    statusForOthers: 401,
  }),
  "GET /roles": async () => ({ path: "/roles" }),
  "GET /organization": async () => ({ path: "/organization" }),
  "PUT /organization": async () => ({
    path: "/organization",
    body: { organization: { recording_retention_days: 365 } },
  }),
  "GET /invites": async (clinic) => {
    await aPendingInvite(clinic);
    return { path: "/invites" };
  },
  "POST /invites": async () => ({ path: "/invites", body: { organization_invite: anInvite() } }),
  "GET /invites/:id": async (clinic) => ({ path: await aPendingInvite(clinic) }),
  "DELETE /invites/:id": async (clinic) => ({ path: await aPendingInvite(clinic) }),
  "POST /invites/:id/resend": async (clinic) => ({ path: `${await anOldInvite(clinic)}/resend` }),
  "POST /invites/bulk_create": async () => aBulkInvite(),
  "GET /bulk_invites/:id": async ({ client }) => {
    const { path, body } = aBulkInvite();
    return { path: `/bulk_invites/${(await client("POST", path, body)).bulk_invite.id}` };
  },
  "GET /access_log_seals": async () => ({ path: "/access_log_seals" }),
  "GET /access_logs/:date": async ({ aSealedDay }) => ({ path: `/access_logs/${await aSealedDay()}` }),
  "GET /events": async () => ({ path: "/events" }),
  "GET /access_logs": async () => ({ path: "/access_logs" }),
  "GET /participants/export": async () => ({ path: "/participants/export?external_reference=patient-1" }),
  "GET /webhook_endpoints": async (clinic) => {
    await anEndpoint(clinic);
    return { path: "/webhook_endpoints" };
  },
  "POST /webhook_endpoints": async (clinic) => {
    await makeRoomForEndpoint(clinic);
    return { path: "/webhook_endpoints", body: { webhook_endpoint: { url: ENDPOINT_URL } } };
  },
  "GET /webhook_endpoints/:id": async (clinic) => ({ path: await anEndpoint(clinic) }),
  "PUT /webhook_endpoints/:id": async (clinic) => ({
    path: await anEndpoint(clinic),
    body: { webhook_endpoint: { url: "https://other.example.com", event_types: ["call.ended"] } },
  }),
  "DELETE /webhook_endpoints/:id": async (clinic) => ({ path: await anEndpoint(clinic) }),
  "POST /webhook_endpoints/:id/rotate_secret": async (clinic) => ({
    path: `${await anEndpoint(clinic)}/rotate_secret`,
  }),
  "GET /webhook_endpoints/:id/deliveries": async (clinic) => ({
    path: `${await anEndpoint(clinic)}/deliveries`,
  }),
  "POST /webhook_endpoints/:id/redeliver": async (clinic) => ({
    path: `${await anEndpoint(clinic)}/redeliver`,
    body: { after: 0 },
  }),
  "POST /webhook_endpoints/:id/ping": async (clinic) => ({
    path: `${await anEndpoint(clinic, clinic.aReceiver())}/ping`,
  }),
};

/** The reference of a new patient, who took part in a call that has ended. */
async function aPatient(clinic: Clinic): Promise<string> {
  const external_reference = unique("patient");
  const { path, speakers } = await anEndedCall(clinic);
  await clinic.platform("PUT", path, { call: { participants: [{ key: speakers[1], external_reference }] } });
  return external_reference;
}

/** The path of a new organization user. */
const aMember = async (clinic: Clinic) => `/organization_users/${(await aProvider(clinic)).id}`;

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

const aSub = async (clinic: Clinic) => ({
  path: `${await aRoom(clinic)}/waiting_room_subs`,
  body: {
    waiting_room_sub: { user_id: (await aProvider(clinic)).user_id, datetime_start: "2126-01-31T09:30:00Z" },
  },
});

async function anAddedSub(clinic: Clinic): Promise<string> {
  const { path, body } = await aSub(clinic);
  return `${path}/${(await clinic.client("POST", path, body)).id}`;
}

/** The path of a recording that the organization may see. */
async function aRecording(clinic: Clinic): Promise<string> {
  const call = await anEndedCall(clinic);
  const { result } = await reported(clinic, anEndedEgress(call));
  return `${call.results}/egresses/${result.id}`;
}

const aBulkInvite = () => ({
  path: "/invites/bulk_create",
  body: { organization_invites: [anInvite(), anInvite()] },
});

const ENDPOINT_URL = "https://hooks.example.com/visits";

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
