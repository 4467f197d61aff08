/** Walks through the product against a running server and prints a line for each step. Every run creates a new organization. */
import { inspect } from "node:util";
import { HOUR } from "../units.ts";
import { startReceiver } from "./demo_receiver.ts";
import { chapter, demoClient, platform, printStep, refusedStep, step } from "./demo_steps.ts";
import { startIdentityProvider } from "./identity_provider.ts";

const now = Date.now();
const at = (hours: number) => new Date(Math.ceil(now / HOUR) * HOUR + hours * HOUR).toISOString();

chapter("The operator sets up an organization with the platform API");
const name = { organization: { name: "Lakeside Clinic" } };
const organization = await step(
  "An organization is created",
  platform("POST", "/organizations", name),
  "slug",
);
const own = `/organizations/${organization.id}`;
const mailOf = (person: string) => `${person}@${organization.slug}.example`;
const addUser = (email: string, display_name: string, role: string) =>
  platform("POST", `${own}/users`, { user: { email, display_name, roles: [role] } });
const addClient = (name: string, organization_user_id: number) =>
  platform("POST", `${own}/api_clients`, { api_client: { name, organization_user_id } });
const ada = addUser(mailOf("ada"), "Ada Admin", "organization_admin");
const admin = await step("Ada becomes its administrator", ada, "roles");
const paul = addUser(mailOf("paul"), "Dr. Paul Provider", "provider");
const provider = await step("Paul, a provider, also gets a personal room", paul, "waiting_room_slug");
const credentials = addClient("Clinic integration", admin.id);
const clinic = demoClient(await step("An API client's secret is shown only once", credentials, "client_id"));

chapter("The organization manages its waiting rooms with the external API");
const addRoom = (name: string, idempotencyKey = crypto.randomUUID()) =>
  clinic.createWaitingRoom({ waiting_room: { name, is_active: true } }, { idempotencyKey });
const room = await step("A room gets a slug, for its link", addRoom("Café Cardiology"), "slug");
await step("A request with an idempotency key creates a room", addRoom("Oncology", `demo-${now}`), "id");
await step("Sent again, it does not create a second one", addRoom("Oncology", `demo-${now}`), "id");
const renamed = clinic.updateWaitingRoom({ slug: room.slug, waiting_room: { name: "Cardiology" } });
const { slug } = await step("A new name gives a new slug", renamed, "slug");
await refusedStep("The old link never opens another room", clinic.getWaitingRoom({ slug: room.slug }));
await step("A list comes in pages", clinic.listWaitingRooms({ per_page: 2 }), "waiting_rooms");
await refusedStep("An error says how to correct the request", addRoom(" "));

chapter("A substitution redirects the participants of a room for a while");
const substitute = (from: number, to: number) =>
  clinic.createWaitingRoomSub({
    waiting_room_slug: slug,
    waiting_room_sub: { user_id: provider.user_id, datetime_start: at(from), datetime_end: at(to) },
  });
const sub = await step("Paul takes over the room", substitute(-1, 2), "datetime_end");
await refusedStep("Two substitutions never overlap", substitute(1, 3));
const opened = platform("GET", `/waiting_rooms/${slug}`);
await step("The platform asks where a participant goes now", opened, "destination_slug");
await step("The substitution ends", clinic.deleteWaitingRoomSub({ waiting_room_slug: slug, id: sub.id }));

chapter("A room cannot be retired while someone is waiting in it");
const rita = { display_name: "Rita Recipient", role: "recipient", external_reference: "patient-4711" };
const putWaiting = (participant: object) =>
  platform("PUT", `/waiting_rooms/${slug}/participants/visit-1`, { participant });
await step("The platform reports Rita as waiting", putWaiting({ ...rita, waiting_since: new Date(now) }));
await step("The organization sees who is waiting", clinic.listWaitingParticipants({ slug }), "participants");
await refusedStep("The room cannot be retired yet", clinic.retireWaitingRoom({ slug }));
await step("Rita leaves", putWaiting({ left_at: new Date() }));
await step("Now the room is retired", clinic.retireWaitingRoom({ slug }));

chapter("A call takes place, and the video backend reports it");
const visitRoom = await step("Another room is created", addRoom("Follow-up visits"), "slug");
const held = { waiting_room_slug: visitRoom.slug, organization_user_id: provider.id };
const consent = { recording_consent: true };
const participants = [
  { key: "provider-1", display_name: "Dr. Paul Provider", role: "provider", ...consent },
  { key: "recipient-1", ...rita, waiting_since: at(-3.1), joined_at: at(-3), ...consent },
];
const report = (path: string, body: object) => platform("PUT", own + path, body);
const putCall = (call: object) => report("/calls/call-1", { call });
const call = await step("A call begins", putCall({ ...held, started_at: at(-3), participants }), "id");
const ofProvider = { organization_user_id: provider.id as number };
const ofCall = { ...ofProvider, call_id: call.id as number };
await step("The organization sees who is on it", clinic.listParticipants(ofCall), "participants");
const numbered = clinic.updateCall({ ...ofCall, call: { external_reference: "visit-10482" } });
await step("It adds its own visit number to the call", numbered, "external_reference");
await step("The call ends; a report has only what changed", putCall({ ended_at: at(-2.5) }), "ended_at");
const lines = [
  { participant_key: "recipient-1", text: "Much better, thank you.", start_time: 2.5, end_time: 4 },
  { participant_key: "provider-1", text: "How do you feel?", start_time: 0.5, end_time: 2 },
];
const transcript = { summary: "A follow-up. All is well.", is_final: true, lines };
await step("Its transcript follows", report("/calls/call-1/transcript", { transcript }), "is_final");
const soap_note = { text: "Subjective: feels well.\nPlan: none.", is_final: true };
await step("Its SOAP note follows", report("/calls/call-1/soap_note", { soap_note }), "is_final");
const putRecording = (egress: object) => report("/egresses/egress-1", { egress });
const starting = putRecording({ call_key: "call-1", status: "egress_starting" });
await step("Its recording has begun", starting, "status");
const stopped = { is_stopped: true, ended_at: at(-2.5), user_id: provider.user_id };
await step("Its recording is available", putRecording({ status: "egress_ended", ...stopped }), "status");

chapter("The organization reads the results of the call");
const found = clinic.findCalls({ external_reference: "visit-10482" });
await step("It finds the call by its own visit number", found, "calls");
const ofPatient = clinic.findCalls({ participant_reference: "patient-4711" });
await step("It finds all calls of the patient", ofPatient, "calls");
await step("One request shows which results are ready", clinic.getCall(ofCall), "results");
const forAda = clinic.withActingUser("ada-17", "TREAT");
await step("It reads for Ada; the access log records that", forAda.getTranscript(ofCall), "transcript_lines");
await step("It reads the SOAP note", forAda.getSoapNote(ofCall), "text");
await step("It reads its call metrics", clinic.getCallMetrics(), "total_calls");
const recordings = clinic.listEgresses(ofCall);
const { egresses } = await step("It reads the recordings of the call", recordings, "egresses");

chapter("The audit log of a recording names everyone who read it");
const ofEgress = { ...ofCall, egress_id: egresses[0]?.id ?? 0 };
const read = clinic.getEgress({ ...ofCall, id: ofEgress.egress_id });
await step("Reading a recording returns a 15-minute URL", read, "status");
await step("Its audit log cannot be changed", clinic.listEgressAuditLogs(ofEgress), "audit_logs");
const withdrawal = { participants: [{ key: "recipient-1", recording_consent: false }] };
await step("Rita withdraws her consent", putCall(withdrawal));
await step("So the recording is no longer available", clinic.listEgresses(ofCall), "egresses");
await step("Every decision about consent is kept", clinic.listConsents(ofCall), "consents");
const reads = clinic.listEgressAuditLogs({ ...ofEgress, event: "read" });
await step("So is every read of the recording", reads, "audit_logs");
await step("The platform deletes it, with its file", platform("DELETE", `${own}/egresses/egress-1`));

chapter("A visit is planned ahead, with a link for each participant");
const plan = {
  waiting_room_slug: visitRoom.slug,
  starts_at: at(24),
  participants: [{ ...rita, role: "recipient" as const }],
};
const addVisit = () => clinic.createVisit({ visit: plan });
const visit = await step("A visit is planned for Rita", addVisit(), "starts_at");
const link = new URL(visit.participants[0]?.join_url ?? "").searchParams.get("visit");
const redeemLink = platform("POST", "/visits/redeem", { token: link });
const { participant } = await step("The web app behind her link gets her key", redeemLink, "participant");
const came = { ...held, started_at: new Date(), participants: [{ key: participant.key }] };
await step("The call is reported with this key", report("/calls/call-2", { call: came }), "visit_id");
await step("So the visit has started", clinic.getVisit({ id: visit.id }), "status");
const { id: other } = await step("Another visit is planned", addVisit(), "status");
await step("It is cancelled", clinic.cancelVisit({ id: other }));
await step(
  "The visit metrics count the visits of each date",
  clinic.getVisitMetrics({ date_end: at(24).slice(0, 10) }),
  "held",
);

chapter("An invitee accepts, and signs in with the organization's identity provider");
const identityProvider = await startIdentityProvider();
const { issuer, audience, jwks_url } = identityProvider;
const addIssuer = platform("POST", `${own}/issuers`, { issuer: { issuer, audience, jwks_url } });
await step("The operator adds the identity provider", addIssuer, "audience");
await step("The client lists the roles that it may assign", clinic.listRoles(), "roles");
const ivy = { email: mailOf("ivy"), display_name: "Dr. Ivy Invitee", role_names: ["provider" as const] };
const invite = await step("Ivy is invited", clinic.createInvite({ organization_invite: ivy }), "mail_status");
const exchange = { token_exchange: { token: await identityProvider.signIn(ivy.email) } };
await refusedStep("She has signed in there, but not accepted yet", clinic.exchangeToken(exchange));
const offered = platform("GET", `${own}/invites/${invite.id}`);
const { accept_url } = await step("The platform may mail the link itself", offered, "accept_url");
const token = new URL(accept_url).searchParams.get("token");
await step("The web app behind the link accepts the invite", platform("POST", "/invites/accept", { token }));
const { code } = await step("Now Ivy gets a code for the web app", clinic.exchangeToken(exchange));
const redeem = () => platform("POST", "/authorization_codes/redeem", { code });
const { organization_user: member } = await step("The web app redeems it", redeem());
await refusedStep("A code works once", redeem());

chapter("Another system of the clinic follows the events");
let after = 0;
for (const text of ["The first event, which has only ids", "The next event, after the last one processed"])
  for await (const { id, type, data } of clinic.followEvents({ after })) {
    printStep(text, `${type} ${inspect(data)}`);
    after = id;
    break;
  }
const receiver = await startReceiver();
const webhook_endpoint = { url: receiver.url, event_types: ["call.*" as const] };
const subscription = clinic.createWebhookEndpoint({ webhook_endpoint });
const endpoint = await step("Or it receives them as webhooks", subscription, "url");
receiver.useSecret(endpoint.secret);
await step("A ping arrives", clinic.pingWebhookEndpoint({ id: endpoint.id }), "response_status");
const again = participants.map((person) => ({ ...person, key: `${person.key}-again` }));
const next = { ...held, started_at: at(-2), ended_at: at(-1.5), participants: again };
await step("Another call is reported", report("/calls/call-3", { call: next }), "id");
const webhooks = await receiver.received(3);
printStep("The webhooks received, with valid signatures", webhooks.map(({ type }) => type).join(", "));
const deliveries = clinic.listWebhookDeliveries({ id: endpoint.id });
await step("The service lists its deliveries", deliveries, "deliveries");
receiver.stop();

chapter("A doctor leaves the organization");
const ivysClient = await step("Ivy has an API client", addClient("Ivy's calendar", member.id), "client_id");
await step("Her membership ends", platform("DELETE", `${own}/users/${member.id}`));
await refusedStep("She can no longer sign in", clinic.exchangeToken(exchange));
await refusedStep("Her client is revoked", demoClient(ivysClient).listRoles());
const all = clinic.listOrganizationUsers();
await step("She stays in the list of users, without roles", all, "organization_users");
await identityProvider.stop();
