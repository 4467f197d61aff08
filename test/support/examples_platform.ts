import {
  aPendingInvite,
  aProvider,
  aRoom,
  aUser,
  aVisit,
  below,
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
  type EndedCall,
  reported,
} from "./reports.ts";

/** An example for each route of the platform API, by method and pattern. Each report is the first of its kind. */
export const platformExamples: Record<string, MakeExample> = {
  ...below("", () => "", {
    "GET /organizations": null,
    "POST /organizations": () => ({ organization: { name: unique("Clinic") } }),
    "POST /authorization_codes/redeem": async ({ client, signIn }) =>
      client("POST", "/auth/token_exchange", { token_exchange: { token: await signIn() } }),
    "GET /events": null,
    "POST /invites/accept": async (clinic) => {
      const { accept_url } = await clinic.platform("GET", await pathOfInvite(clinic));
      return { token: new URL(accept_url).searchParams.get("token") };
    },
    "POST /visits/redeem": async (clinic) => ({ token: (await aVisit(clinic)).token }),
  }),
  "GET /invites": async (clinic) => {
    await aPendingInvite(clinic);
    return { path: "/invites" };
  },
  ...below("/organizations/:organization_id", pathOf, {
    GET: null,
    PUT: { organization: { name: "Renamed Clinic", recording_retention_days: 365 } },
    "GET /usage": null,
    "GET /users": null,
    "POST /users": () => ({ user: aUser() }),
    "GET /api_clients": null,
    "POST /api_clients": anApiClient,
    "GET /issuers": null,
    "POST /issuers": anIssuer,
  }),
  ...below("/organizations/:organization_id/users/:organization_user_id", aMember, {
    PUT: { user: { roles: ["provider", "organization_admin"] } },
    DELETE: null,
  }),
  ...below("/organizations/:organization_id/api_clients/:id", added("api_clients", anApiClient), {
    DELETE: null,
  }),
  ...below("/organizations/:organization_id/issuers/:id", added("issuers", anIssuer), { DELETE: null }),
  ...below("/organizations/:organization_id/invites/:id", pathOfInvite, { GET: null }),
  "GET /waiting_rooms/:slug": async (clinic) => ({ path: await aRoom(clinic) }),
  "PUT /waiting_rooms/:slug/participants/:key": async (clinic) => ({
    path: `${await aRoom(clinic)}/participants/${unique("participant")}`,
    body: { participant: { display_name: "Rita", role: "recipient", waiting_since: "2026-01-31T09:30:00Z" } },
  }),
  "PUT /organizations/:organization_id/calls/:key": (clinic) => aCall(clinic),
  "GET /organizations/:organization_id/calls/:key": async (clinic) => ({
    path: (await anEndedCall(clinic)).path,
  }),
  ...reports("calls/:key/legal_hold", aHold),
  ...reports("calls/:key/transcript", aTranscript),
  ...reports("calls/:key/soap_note", aSoapNote),
  ...reports("egresses/:egress_id", anEgress, anEndedEgress),
};

type Report = (call: EndedCall) => { path: string; body: object };

/** The first report of a result, and the deletion of a reported one. */
function reports(pattern: string, report: Report, deletable = report): Record<string, MakeExample> {
  const route = `/organizations/:organization_id/${pattern}`;
  return {
    [`PUT ${route}`]: async (clinic) => report(await anEndedCall(clinic)),
    [`DELETE ${route}`]: async (clinic) => ({
      path: (await reported(clinic, deletable(await anEndedCall(clinic)))).path,
    }),
  };
}

function pathOf({ id }: Pick<Clinic, "id">): string {
  return `/organizations/${id}`;
}

/** The path of a new thing of the organization. */
function added(things: string, body: (clinic: Clinic) => object) {
  return async (clinic: Clinic): Promise<string> => {
    const path = `${pathOf(clinic)}/${things}`;
    return `${path}/${(await clinic.platform("POST", path, body(clinic))).id}`;
  };
}

async function aMember(clinic: Clinic): Promise<string> {
  return `${pathOf(clinic)}/users/${(await aProvider(clinic)).id}`;
}

async function pathOfInvite(clinic: Clinic): Promise<string> {
  return `${pathOf(clinic)}/invites/${(await aPendingInvite(clinic)).id}`;
}

function anApiClient({ admin }: Clinic) {
  return { api_client: { name: "Integration", organization_user_id: admin.id } };
}

function anIssuer() {
  const issuer = `https://${unique("idp")}.test`;
  return { issuer: { issuer, audience: "video-visits", jwks_url: `${issuer}/jwks` } };
}
