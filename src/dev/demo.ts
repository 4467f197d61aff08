/**
 * `npm run demo [-- URL]`: goes through the product against a running server, request by request. Every run makes a new
 * organization.
 */
import { existsSync, readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import type { Client } from "../../dist/client/external/index.js";
import { HOUR } from "../limits.ts";
import { printingClient, refused } from "./demo_client.ts";
import { demoLiveKit } from "./demo_livekit.ts";
import { mailsOf, newestMailTo } from "./demo_mail.ts";
import { DEMO_CLIENT } from "./demo_organization.ts";
import { chapter, indent, say, stop } from "./demo_output.ts";
import { startWebhookReceiver } from "./demo_webhooks.ts";
import { startIdentityProvider } from "./identity_provider.ts";

const server = process.argv[2] ?? "http://localhost:8787";
if (!existsSync(".dev.vars")) stop("There is no .dev.vars: `npm run dev` makes it, and starts the server.");
const settings = parseEnv(readFileSync(".dev.vars", "utf8"));

type Headers = Record<string, string>;

/** Sends one request of another API, and prints it with its response. */
async function show(headers: Headers, method: string, path: string, body?: object) {
  process.stdout.write(`\n  ${method} ${path}\n${body ? indent(body) : ""}`);
  const response = await fetch(server + path, {
    method,
    headers: { ...(body ? { "Content-Type": "application/json" } : {}), ...headers },
    ...(body ? { body: JSON.stringify(body) } : {}),
  }).catch(() => stop(`${server} cannot be reached. Start it with \`npm run dev\`.`));
  const text = await response.text();
  const answer = text === "" ? null : JSON.parse(text);
  process.stdout.write(`  → ${response.status}\n${answer ? indent(answer) : ""}`);
  return answer;
}

/** The download URL of the newest recording of the demo organization that was not deleted. */
async function findRecording(demo: Client): Promise<string | undefined> {
  const { organization_users } = await demo.listOrganizationUsers();
  const provider = organization_users.find(({ roles }) => roles.includes("provider"));
  if (!provider) return undefined;
  const of = { organization_user_id: provider.id };
  for (const { id: call_id } of (await demo.listCalls({ ...of, per_page: 3 })).calls)
    for (const { id } of (await demo.listEgresses({ ...of, call_id })).egresses) {
      const { url } = await demo.getEgress({ ...of, call_id, id });
      if (url) return url;
    }
  return undefined;
}

const platform: Headers = { Authorization: `Bearer ${settings.PLATFORM_API_TOKEN}` };
const now = Date.now();
const at = (hours: number) => new Date(Math.ceil(now / HOUR) * HOUR + hours * HOUR).toISOString();

chapter("The operator provisions an organization, through the platform API");
const organization = await show(platform, "POST", "/api/platform/organizations", {
  organization: { name: "Riverside Clinic" },
});
const ofOrganization = `/api/platform/organizations/${organization.id}`;
const users = `${ofOrganization}/users`;
const mail = (name: string) => `${name}@${organization.slug}.example`;
const admin = await show(platform, "POST", users, {
  user: { email: mail("ada"), display_name: "Ada Admin", roles: ["organization_admin"] },
});
say("A provider also gets a personal waiting room.");
const provider = await show(platform, "POST", users, {
  user: { email: mail("paul"), display_name: "Dr. Paul Provider", roles: ["provider"] },
});
say("The secret of an API client is shown only this once. The service stores only its digest.");
const client = await show(platform, "POST", `${ofOrganization}/api_clients`, {
  api_client: { name: "Clinic integration", organization_user_id: admin.id },
});
const clinic = printingClient(server, client);

chapter("The organization manages its waiting rooms, through the external API");
const room = await clinic.createWaitingRoom({ waiting_room: { name: "Café Cardiology", is_active: true } });
say("A program that is started again sends its request again: with a key, no second room is made.");
for (let n = 0; n < 2; n++)
  await clinic.createWaitingRoom({ waiting_room: { name: "Oncology" } }, { idempotencyKey: `demo-${now}` });
say("A new name gives a new slug. The old link stops working, and never leads to another room.");
const { slug } = await clinic.updateWaitingRoom({ slug: room.slug, waiting_room: { name: "Cardiology" } });
await refused(clinic.getWaitingRoom({ slug: room.slug }));
await clinic.listWaitingRooms({ per_page: 2 });
say("An error says what is wrong and what would be right.");
await refused(clinic.createWaitingRoom({ waiting_room: { name: " " } }));

chapter("A substitution redirects the room's participants for a while");
const inRoom = { waiting_room_slug: slug };
const sub = await clinic.createWaitingRoomSub({
  ...inRoom,
  waiting_room_sub: { user_id: provider.user_id, datetime_start: at(-1), datetime_end: at(2) },
});
await refused(
  clinic.createWaitingRoomSub({
    ...inRoom,
    waiting_room_sub: { user_id: provider.user_id, datetime_start: at(1), datetime_end: at(3) },
  }),
);
say("The platform asks where to send a participant who opens the room now.");
await show(platform, "GET", `/api/platform/waiting_rooms/${slug}`);
await clinic.deleteWaitingRoomSub({ ...inRoom, id: sub.id });

chapter("Somebody waits, so the room cannot be retired");
const participant = `/api/platform/waiting_rooms/${slug}/participants/visit-1`;
await show(platform, "PUT", participant, {
  participant: {
    display_name: "Rita Recipient",
    role: "recipient",
    external_reference: "patient-4711",
    waiting_since: new Date(now).toISOString(),
  },
});
say("The organization sees who waits, and by which number its own system knows the person.");
await clinic.listWaitingParticipants({ slug });
await refused(clinic.retireWaitingRoom({ slug }));
await show(platform, "PUT", participant, { participant: { left_at: new Date().toISOString() } });
await clinic.retireWaitingRoom({ slug });

chapter("A call takes place, and the video backend reports it");
const visitRoom = await clinic.createWaitingRoom({
  waiting_room: { name: "Follow-up visits", is_active: true },
});
const call = `${ofOrganization}/calls/call-1`;
const people = [
  { key: "provider-1", display_name: "Dr. Paul Provider", role: "provider", recording_consent: true },
  {
    key: "recipient-1",
    display_name: "Rita Recipient",
    role: "recipient",
    external_reference: "patient-4711",
    waiting_since: at(-3.1),
    joined_at: at(-3),
    recording_consent: true,
  },
];
const reported = await show(platform, "PUT", call, {
  call: {
    waiting_room_slug: visitRoom.slug,
    organization_user_id: provider.id,
    started_at: at(-3),
    participants: people,
  },
});
say("The organization sees who is on the call, and gives it the number of the visit in its own records.");
const ofCall = { organization_user_id: provider.id as number, call_id: reported.id as number };
await clinic.listParticipants(ofCall);
await clinic.updateCall({ ...ofCall, call: { external_reference: "visit-10482" } });
say("Later reports contain only what is new. When the call ends, all its participants have left.");
await show(platform, "PUT", call, { call: { ended_at: at(-2.5) } });
await show(platform, "PUT", `${call}/transcript`, {
  transcript: {
    summary: "A follow-up. All is well.",
    is_final: true,
    lines: [
      { participant_key: "recipient-1", text: "Much better, thank you.", start_time: 2.5, end_time: 4 },
      { participant_key: "provider-1", text: "How do you feel?", start_time: 0.5, end_time: 2 },
    ],
  },
});
await show(platform, "PUT", `${call}/soap_note`, {
  soap_note: {
    text: "Subjective: feels well.\nObjective: -\nAssessment: recovered.\nPlan: none.",
    is_final: true,
  },
});
const recording = `${ofOrganization}/egresses/egress-1`;
await show(platform, "PUT", recording, {
  egress: { call_key: "call-1", status: "egress_starting" },
});
await show(platform, "PUT", recording, {
  egress: { status: "egress_ended", is_stopped: true, ended_at: at(-2.5), user_id: provider.user_id },
});

chapter("The organization reads the results of the call");
say("By its own numbers it finds the call, and all calls of the patient. One request says what is ready.");
await clinic.findCalls({ external_reference: "visit-10482" });
await clinic.findCalls({ participant_reference: "patient-4711" });
await clinic.getCall(ofCall);
say("For whom it reads, and why, goes into the access log.");
const forAda = clinic.withActingUser("ada-17", "TREAT");
await forAda.getTranscript(ofCall);
await forAda.getSoapNote(ofCall);
await clinic.getCallMetrics();
const { egresses } = await clinic.listEgresses(ofCall);

chapter("A recording is downloaded, and the audit log says so");
say("The demo organization has a recording with a file. Its download URL is valid for 15 minutes.");
const url = await findRecording(printingClient(server, DEMO_CLIENT));
if (url) {
  const file = await fetch(url);
  say(`  GET the url → ${file.status}, ${(await file.arrayBuffer()).byteLength} bytes of sound`);
} else
  say("Left out: its last calls have no recording. `npm run dev` makes one on every day that it is started.");
say("Every read of a recording writes an entry into its audit log. Entries are never changed or deleted.");
const ofEgress = { ...ofCall, egress_id: egresses[0]?.id ?? 0 };
await clinic.getEgress({ ...ofCall, id: ofEgress.egress_id });
await clinic.listEgressAuditLogs(ofEgress);
say(
  "Without the consent of every participant, the recording is not available. Its audit log stays, and each decision.",
);
await show(platform, "PUT", call, {
  call: { participants: [{ key: "recipient-1", recording_consent: false }] },
});
await clinic.listEgresses(ofCall);
await clinic.listConsents(ofCall);
await clinic.listEgressAuditLogs({ ...ofEgress, event: "read" });

chapter("A visit that nobody but LiveKit reports");
const visit = await demoLiveKit({
  server,
  settings,
  clinic,
  provider,
  waiting_room_slug: visitRoom.slug,
  organization_slug: organization.slug,
  prefix: `${organization.id}${now}`,
  say,
  show,
});

if (visit) {
  chapter("A recording is deleted");
  say("The file goes first, then the recording says so. A URL that was made before leads nowhere.");
  await show(platform, "DELETE", `${ofOrganization}/egresses/${visit.egress_id}`);
  say(`  GET the url → ${(await fetch(visit.url)).status}`);
  const { id, ...call } = visit.recording;
  await clinic.getEgress({ ...call, id });
  await clinic.listEgressAuditLogs({ ...call, egress_id: id });
}

chapter("Somebody is invited, accepts, and signs in with the organization's identity provider");
const identityProvider = await startIdentityProvider();
await show(platform, "POST", `${ofOrganization}/issuers`, {
  issuer: {
    issuer: identityProvider.issuer,
    audience: identityProvider.audience,
    jwks_url: identityProvider.jwks_url,
  },
});
await clinic.listRoles();
const invite = await clinic.createInvite({
  organization_invite: { email: mail("ivy"), display_name: "Dr. Ivy Invitee", role_names: ["provider"] },
});
say("Ivy signs in at the identity provider (a real one, on this machine) and gets a token.");
const exchange = { token_exchange: { token: await identityProvider.signIn(mail("ivy")) } };
await refused(clinic.exchangeToken(exchange));
const invitation = invite.mail_status === "off" ? null : await newestMailTo(server, invite.email);
if (invitation) {
  say(`She finds a mail with a link. wrangler only simulates it: ${mailsOf(server)} shows all.`);
  say(`  ✉ ${invitation.subject}

${invitation.text.replace(/^(?=.)/gm, "    ")}`);
  await clinic.getInvite({ id: invite.id });
  say("A second mail would have a new link, so it is not sent at once.");
  await refused(clinic.resendInvite({ id: invite.id }));
} else say("Mail is off here, so the platform mails invites.");
say(
  "A platform that mails invites itself asks for the link. The web app behind the link accepts the invite.",
);
const offered = await show(platform, "GET", `${ofOrganization}/invites/${invite.id}`);
const accept_url = /https?:\S+/.exec(invitation?.text ?? "")?.[0] ?? offered.accept_url;
await show(platform, "POST", "/api/platform/invites/accept", {
  token: new URL(accept_url).searchParams.get("token"),
});
const { code } = await clinic.exchangeToken(exchange);
say("The browser brings the code to the web app, which redeems it. A code works once.");
const { organization_user: ivy } = await show(platform, "POST", "/api/platform/authorization_codes/redeem", {
  code,
});
await show(platform, "POST", "/api/platform/authorization_codes/redeem", { code });

chapter("Many are invited at once, in the background");
const { bulk_invite: bulk } = await clinic.createBulkInvite({
  organization_invites: ["nora", "omar", "nora"].map((name) => ({
    email: mail(name),
    display_name: name,
    role_names: ["provider_assistant" as const],
  })),
});
await new Promise((resolve) => setTimeout(resolve, 3000));
await clinic.getBulkInvite({ id: bulk.id });
await clinic.listInvites();

chapter("Another system of the clinic follows what happens");
say("An event holds only ids. Whoever keeps the id of the last one goes on after it, at any time.");
let after = 0;
for (const count of [3, 5]) {
  let seen = 0;
  for await (const event of clinic.followEvents({ after })) {
    say(`  event ${event.id}: ${event.type} ${JSON.stringify(event.data)}`);
    after = event.id;
    if (++seen === count) break;
  }
}
say("Or it has them sent to a URL of its own (here on this machine). They are signed with the secret.");
const receiver = await startWebhookReceiver((title, body) => say(`  ${title}:\n${indent(body)}`));
const endpoint = await clinic.createWebhookEndpoint({
  webhook_endpoint: { url: receiver.url, event_types: ["call.*"] },
});
receiver.useSecret(endpoint.secret);
await clinic.pingWebhookEndpoint({ id: endpoint.id });
await show(platform, "PUT", `${ofOrganization}/calls/call-2`, {
  call: {
    waiting_room_slug: visitRoom.slug,
    organization_user_id: provider.id,
    started_at: at(-1),
    ended_at: at(-0.5),
    participants: people.map((person) => ({ ...person, key: `${person.key}-again` })),
  },
});
await receiver.waitFor(3);
await clinic.listWebhookDeliveries({ id: endpoint.id });
await receiver.stop();

chapter("A doctor leaves the organization");
const ivysClient = await show(platform, "POST", `${ofOrganization}/api_clients`, {
  api_client: { name: "Ivy's calendar", organization_user_id: ivy.id },
});
await show(platform, "DELETE", `${users}/${ivy.id}`);
say("Ivy can no longer sign in, her API client is revoked, and her personal waiting room is gone.");
await refused(clinic.exchangeToken(exchange));
await refused(printingClient(server, ivysClient).listRoles());
say("She stays in the list, without roles, so that the results of her calls stay within reach.");
await clinic.listOrganizationUsers();
await identityProvider.stop();
