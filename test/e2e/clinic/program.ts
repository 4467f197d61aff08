/** A program that a clinic might write with the client package. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createClient, paginate, type VisitEvent, verifyWebhook } from "organization-video-visit-client";
import { verifyAccessLog } from "organization-video-visit-client/access-log";

const { VISITS_URL = "", CLIENT_ID, CLIENT_SECRET, TOKEN = "", ROOM = "" } = process.env;

const settings = { baseUrl: VISITS_URL, clientId: CLIENT_ID, clientSecret: CLIENT_SECRET };

const visits = createClient(settings);

/** Creates a room with a substitute. */
async function setUp() {
  const room = await visits.createWaitingRoom({ waiting_room: { name: "Dermatology", is_active: true } });
  const providers: { user_id: number; room: string }[] = [];
  for await (const user of paginate(visits.listOrganizationUsers))
    if (user.waiting_room_slug !== null)
      providers.push({ user_id: user.user_id, room: user.waiting_room_slug });
  const [provider, substitute] = providers;
  if (!provider || !substitute) throw new Error("The clinic does not have two providers");
  const personal = await visits.getWaitingRoom({ slug: provider.room });
  const starts = Date.now() + 7 * 86_400_000;
  const sub = await visits.createWaitingRoomSub({
    waiting_room_slug: room.slug,
    waiting_room_sub: {
      user_id: substitute.user_id,
      datetime_start: new Date(starts).toISOString(),
      datetime_end: new Date(starts + 3_600_000).toISOString(),
    },
  });
  return { room: room.slug, personal: personal.name, sub: sub.user_id === substitute.user_id };
}

/** Invites colleagues, and waits until each is invited or refused. */
async function invite(emails: string[]) {
  const organization_invites = emails.map((email) => ({
    email,
    display_name: "New Colleague",
    role_names: ["provider" as const],
  }));
  let { bulk_invite } = await visits.createBulkInvite({ organization_invites });
  while (bulk_invite.status !== "completed") {
    await new Promise((resolve) => setTimeout(resolve, 250));
    ({ bulk_invite } = await visits.getBulkInvite({ id: bulk_invite.id }));
  }
  return { created: bulk_invite.created_count, failed: bulk_invite.failed_count };
}

async function yesterday() {
  const date = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  const results: object[] = [];
  const forPaula = visits.withActingUser("staff-17", "TREAT");
  for await (const { id: call_id, organization_user_id } of paginate(visits.findCalls, {
    from: date,
    to: date,
  })) {
    const path = { organization_user_id, call_id };
    const { results: ready } = await visits.getCall(path);
    if (ready.transcript !== "ready" || ready.soap_note !== "ready") continue;
    const { summary, transcript_lines } = await forPaula.getTranscript(path);
    const captions = await forPaula.getTranscript(path, { accept: "text/vtt" });
    const { text } = await forPaula.getSoapNote(path);
    const [recording] = (await visits.listEgresses(path)).egresses;
    const { url } = recording ? await forPaula.getEgress({ ...path, id: recording.id }) : { url: null };
    const file = url === null ? undefined : await (await fetch(url)).arrayBuffer();
    results.push({
      call_id,
      summary,
      lines: transcript_lines.length,
      cues: captions.split("-->").length - 1,
      note: text.split("\n")[0],
      bytes: file?.byteLength,
    });
  }
  return results;
}

const describe = (event: VisitEvent): string =>
  event.type === "waiting_room_sub.changed"
    ? `${event.type} ${event.data.waiting_room_sub_id > 0}`
    : event.type;

/** Follows the events up to the sub that was just created. */
async function follow() {
  const seen: string[] = [];
  for await (const event of visits.followEvents({ type: "waiting_room_sub.*", interval: 100 })) {
    seen.push(describe(event));
    if (Date.now() - Date.parse(event.created_at) < 600_000) break;
  }
  return seen.at(-1);
}

async function receive() {
  let secret = "";
  let arrived: (type: string) => void = () => {};
  const arrival = new Promise<string>((resolve) => {
    arrived = resolve;
  });
  const receiver = createServer(async (request, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const event = await verifyWebhook(secret, request.headers, Buffer.concat(chunks));
    response.writeHead(204).end();
    arrived(event.type);
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  const { port } = receiver.address() as AddressInfo;
  const endpoint = await visits.createWebhookEndpoint({
    webhook_endpoint: { url: `http://127.0.0.1:${port}/` },
  });
  secret = endpoint.secret;
  await visits.pingWebhookEndpoint({ id: endpoint.id });
  const type = await arrival;
  await visits.deleteWebhookEndpoint({ id: endpoint.id });
  receiver.close();
  return type;
}

/** Lists the accesses to a patient's data, and checks the access log against its seals. */
async function audit(external_reference: string) {
  const seen = new Set<string>();
  const entries = await visits.listAccessLogs({ external_reference }, { accept: "application/x-ndjson" });
  for await (const { event, resource } of entries) seen.add(`${event} ${resource}`);
  const { entries: sealed, warnings } = await verifyAccessLog(settings);
  return { seen: [...seen].sort(), sealed: sealed > 0, warnings: warnings.length };
}

async function main() {
  const { room, ...setup } = await setUp();
  const [waiting] = (await visits.listWaitingParticipants({ slug: ROOM })).participants;
  const results = {
    room,
    ...setup,
    invited: await invite([`new-${process.pid}@example.com`, `new-${process.pid}@example.com`]),
    code: (await visits.exchangeToken({ token_exchange: { token: TOKEN } })).code.length,
    waiting: waiting?.display_name,
    yesterday: await yesterday(),
    event: await follow(),
    webhook: await receive(),
    audit: await audit("patient-4711"),
  };
  process.stdout.write(JSON.stringify(results));
}

main().catch((error: unknown) => {
  process.stderr.write(`${error}\n`);
  process.exitCode = 1;
});
