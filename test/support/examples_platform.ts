import {
  aPendingInvite,
  aProvider,
  aRoom,
  aUser,
  aVisit,
  type Clinic,
  type MakeExample,
  unique,
} from "./clinic.ts";
import {
  aCall,
  aHold,
  anEgress,
  anEndedCall,
  anEndedEgress,
  aSoapNote,
  aTranscript,
  reported,
} from "./reports.ts";

/** An example for each route of the platform API, by method and pattern. Each report is the first of its kind. */
export const platformExamples: Record<string, MakeExample> = {
  "GET /organizations": async () => ({ path: "/organizations" }),
  "GET /organizations/:organization_id": async ({ id }) => ({ path: `/organizations/${id}` }),
  "PUT /organizations/:organization_id": async ({ id }) => ({
    path: `/organizations/${id}`,
    body: { organization: { name: "Renamed Clinic", recording_retention_days: 365 } },
  }),
  "GET /organizations/:organization_id/usage": async ({ id }) => ({ path: `/organizations/${id}/usage` }),
  "POST /organizations": async () => ({
    path: "/organizations",
    body: { organization: { name: unique("Clinic") } },
  }),
  "GET /organizations/:organization_id/users": async ({ id }) => ({ path: `/organizations/${id}/users` }),
  "POST /organizations/:organization_id/users": async ({ id }) => ({
    path: `/organizations/${id}/users`,
    body: { user: aUser() },
  }),
  "PUT /organizations/:organization_id/users/:organization_user_id": async (clinic) => ({
    path: await aMember(clinic),
    body: { user: { roles: ["provider", "organization_admin"] } },
  }),
  "DELETE /organizations/:organization_id/users/:organization_user_id": async (clinic) => ({
    path: await aMember(clinic),
  }),
  "GET /organizations/:organization_id/api_clients": async ({ id }) => ({
    path: `/organizations/${id}/api_clients`,
  }),
  "POST /organizations/:organization_id/api_clients": async (clinic) => anApiClient(clinic),
  "DELETE /organizations/:organization_id/api_clients/:id": async (clinic) => {
    const { path, body } = anApiClient(clinic);
    return { path: `${path}/${(await clinic.platform("POST", path, body)).id}` };
  },
  "GET /organizations/:organization_id/issuers": async ({ id }) => ({ path: `/organizations/${id}/issuers` }),
  "POST /organizations/:organization_id/issuers": async (clinic) => anIssuer(clinic),
  "DELETE /organizations/:organization_id/issuers/:id": async (clinic) => {
    const { path, body } = anIssuer(clinic);
    return { path: `${path}/${(await clinic.platform("POST", path, body)).id}` };
  },
  "GET /waiting_rooms/:slug": async (clinic) => ({ path: await aRoom(clinic) }),
  "PUT /waiting_rooms/:slug/participants/:key": async (clinic) => ({
    path: `${await aRoom(clinic)}/participants/${unique("participant")}`,
    body: { participant: { display_name: "Rita", role: "recipient", waiting_since: "2026-01-31T09:30:00Z" } },
  }),
  "PUT /organizations/:organization_id/calls/:key": (clinic) => aCall(clinic),
  "GET /organizations/:organization_id/calls/:key": async (clinic) => ({
    path: (await anEndedCall(clinic)).path,
  }),
  "PUT /organizations/:organization_id/calls/:key/legal_hold": async (clinic) =>
    aHold(await anEndedCall(clinic)),
  "DELETE /organizations/:organization_id/calls/:key/legal_hold": async (clinic) => ({
    path: (await reported(clinic, aHold(await anEndedCall(clinic)))).path,
  }),
  "PUT /organizations/:organization_id/calls/:key/transcript": async (clinic) =>
    aTranscript(await anEndedCall(clinic)),
  "PUT /organizations/:organization_id/calls/:key/soap_note": async (clinic) =>
    aSoapNote(await anEndedCall(clinic)),
  "PUT /organizations/:organization_id/egresses/:egress_id": async (clinic) =>
    anEgress(await anEndedCall(clinic)),
  "DELETE /organizations/:organization_id/calls/:key/transcript": async (clinic) => ({
    path: (await reported(clinic, aTranscript(await anEndedCall(clinic)))).path,
  }),
  "DELETE /organizations/:organization_id/calls/:key/soap_note": async (clinic) => ({
    path: (await reported(clinic, aSoapNote(await anEndedCall(clinic)))).path,
  }),
  "DELETE /organizations/:organization_id/egresses/:egress_id": async (clinic) => ({
    path: (await reported(clinic, anEndedEgress(await anEndedCall(clinic)))).path,
  }),
  "POST /authorization_codes/redeem": async ({ client, signIn }) => ({
    path: "/authorization_codes/redeem",
    body: await client("POST", "/auth/token_exchange", { token_exchange: { token: await signIn() } }),
  }),
  "GET /invites": async (clinic) => {
    await aPendingInvite(clinic);
    return { path: "/invites" };
  },
  "GET /events": async () => ({ path: "/events" }),
  "GET /organizations/:organization_id/invites/:id": async (clinic) => ({
    path: `/organizations/${clinic.id}${await aPendingInvite(clinic)}`,
  }),
  "POST /invites/accept": async (clinic) => {
    const { accept_url } = await clinic.platform(
      "GET",
      `/organizations/${clinic.id}${await aPendingInvite(clinic)}`,
    );
    return { path: "/invites/accept", body: { token: new URL(accept_url).searchParams.get("token") } };
  },
  "POST /visits/redeem": async (clinic) => ({
    path: "/visits/redeem",
    body: { token: (await aVisit(clinic)).token },
  }),
};

/** The path of a new member. */
const aMember = async (clinic: Clinic) => `/organizations/${clinic.id}/users/${(await aProvider(clinic)).id}`;

const anApiClient = ({ id, admin }: Clinic) => ({
  path: `/organizations/${id}/api_clients`,
  body: { api_client: { name: "Integration", organization_user_id: admin.id } },
});

function anIssuer({ id }: Clinic) {
  const issuer = `https://${unique("idp")}.test`;
  return {
    path: `/organizations/${id}/issuers`,
    body: { issuer: { issuer, audience: "video-visits", jwks_url: `${issuer}/jwks` } },
  };
}
