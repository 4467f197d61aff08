import { eq, sql } from "drizzle-orm";
import { type DrizzleD1Database, drizzle } from "drizzle-orm/d1";
import { digest } from "../bytes/digest.ts";
import { reportCall } from "../calls/calls/calls.reports.ts";
import { type ClientContext, openContext } from "../context.ts";
import { sequences } from "../database/database.table.ts";
import type { Role } from "../database/enums.ts";
import { createWebhookEndpoint } from "../delivery/webhook_endpoints/webhook_endpoints.service.ts";
import { createBulkInvite } from "../joining/bulk_invites/bulk_invites.service.ts";
import { createInvite } from "../joining/invites/invites.service.ts";
import { createUser, endMembership } from "../joining/organization_users/organization_users.service.ts";
import { SECRET_HINT_LENGTH } from "../limits.ts";
import { exampleOf } from "../openapi/examples.ts";
import * as story from "../openapi/story.ts";
import { apiClients } from "../organization/api_clients/api_clients.table.ts";
import { createOrganization } from "../organization/organizations/organizations.service.ts";
import { DEMO_CLIENT } from "../reference/demo_client.ts";
import { reportEgress } from "../results/egresses/egresses.service.ts";
import { soapNoteSchema } from "../results/soap_notes/soap_notes.responses.ts";
import { reportSoapNote } from "../results/soap_notes/soap_notes.service.ts";
import { transcriptSchema } from "../results/transcripts/transcripts.responses.ts";
import { reportTranscript } from "../results/transcripts/transcripts.service.ts";
import { visitKey } from "../rooms/visits/visits.reports.ts";
import { createVisit } from "../rooms/visits/visits.service.ts";
import { createWaitingRoomSub } from "../rooms/waiting_room_subs/waiting_room_subs.service.ts";
import { createWaitingRoom } from "../rooms/waiting_rooms/waiting_rooms.service.ts";
import { DAY, HOUR, SECOND } from "../units.ts";
import { demoRecording, RECORDING_SECONDS } from "./demo_results.ts";

/** Creates the demo organization, with dates relative to now. Returns false if it exists. */
export async function loadDemoOrganization(env: Env, now: number): Promise<boolean> {
  const db = drizzle(env.DB);
  // `npm run dev` prints these credentials, so they must work even if someone has revoked the client.
  const present = await db
    .update(apiClients)
    .set({ revoked_at: null })
    .where(eq(apiClients.client_id, DEMO_CLIENT.client_id))
    .returning({ id: apiClients.id });
  if (present.length > 0) return false;

  // The demo client's fixed id does not encode a database, so the organization must be in the first one.
  const context = openContext({ ...env, NEW_ORGANIZATIONS_SHARD: "0", DEFAULT_REGION: "" } as Env, now);
  // Two days ago, so that its access log has a day that is over and can be sealed.
  const earlier = { ...context, now: now - 2 * DAY };
  await numberLikeTheExamples(db);
  const { id: organization_id, slug } = await createOrganization(earlier, { name: story.CLINIC.name });
  const addUser = ({ email, display_name }: typeof story.OLGA, ...roles: Role[]) =>
    createUser(earlier, organization_id, { email, display_name, roles });
  const admin = await addUser(story.OLGA, "organization_admin");

  const addClient = async (name: string, client_id: string, client_secret: string) =>
    db
      .insert(apiClients)
      .values({
        organization_id,
        organization_user_id: admin.id,
        name,
        client_id,
        secret_digest: await digest(client_secret),
        secret_hint: client_secret.slice(-SECRET_HINT_LENGTH),
        created_at: now,
        updated_at: now,
      })
      .returning({ id: apiClients.id })
      .get();
  const client = await addClient("Demo client", DEMO_CLIENT.client_id, DEMO_CLIENT.client_secret);
  // Only to be listed and revoked, so its secret is random.
  await addClient(story.API_CLIENT.name, story.API_CLIENT.client_id, crypto.randomUUID());
  const clientContext: ClientContext = {
    ...context,
    mailer: null,
    url: "http://localhost",
    writes: 0,
    caller: {
      api_client_id: client.id,
      organization_id,
      organization_user_id: admin.id,
      roles: ["organization_admin"],
      scopes: null,
      expires_at: null,
      require_acting_user: false,
    },
  };
  const yesterday = { ...clientContext, now: now - DAY };

  const room = await createWaitingRoom(clientContext, { name: story.CARDIOLOGY.name, is_active: true });
  const provider = await addUser(story.PAULA, "provider");
  const substitute = await addUser(story.SAM, "provider");
  await addUser(story.ANN, "provider_assistant");
  const former = await addUser(story.FRED, "provider_assistant");
  await endMembership(earlier, organization_id, former.id);
  const nextHour = Math.ceil(now / HOUR) * HOUR;
  await createWaitingRoomSub(clientContext, room.slug, {
    user_id: substitute.id,
    datetime_start: nextHour,
    datetime_end: nextHour + 8 * HOUR,
  });

  // Invited yesterday, so that the invites can be sent again.
  for (const { email, display_name } of [story.INES, ...INVITEES])
    await createInvite(yesterday, { email, display_name, role_names: ["provider"] });
  const { email, display_name } = story.NINA;
  await createBulkInvite(clientContext, [{ email, display_name, role_names: ["provider"] }]);
  // Inactive, so that no event leaves the developer's machine.
  const { url } = story.WEBHOOK_ENDPOINT;
  await createWebhookEndpoint(clientContext, { url, is_active: false });

  const started_at = Math.floor(now / DAY) * DAY - 14 * HOUR;
  const rita = {
    role: "recipient" as const,
    display_name: story.RITAS_PARTICIPANT.display_name,
    user_id: null,
    external_reference: story.RITAS_REFERENCE,
  };
  const plan = { waiting_room_slug: room.slug, participants: [rita] };
  const visit = await createVisit(
    { ...clientContext, now: started_at - DAY },
    {
      ...plan,
      organization_user_id: provider.id,
      starts_at: started_at,
      external_reference: story.HELD_VISIT_REFERENCE,
    },
  );
  const starts_at = nextHour + 7 * DAY;
  await createVisit(clientContext, { ...plan, starts_at, external_reference: story.VISIT_REFERENCE });

  const path = { organization_id, key: story.CALL.key };
  const ended_at = started_at + HOUR / 3;
  const joined = { joined_at: started_at, recording_consent: true };
  const rita_key = visitKey(visit.id, 1);
  const { display_name: paula, key: paula_key } = story.PAULAS_PARTICIPANT;
  await reportCall(context, path, {
    waiting_room_slug: room.slug,
    organization_user_id: provider.id,
    started_at,
    ended_at,
    participants: [
      { key: rita_key, waiting_since: started_at - HOUR / 20, ...joined },
      { key: paula_key, display_name: paula, role: "provider", user_id: provider.id, ...joined },
    ],
  });
  const { summary, transcript_lines } = exampleOf(transcriptSchema);
  await reportTranscript(context, path, {
    summary,
    is_final: true,
    lines: transcript_lines.map(({ text, start_time, end_time }, place) => {
      return { participant_key: place === 0 ? paula_key : rita_key, place, text, start_time, end_time };
    }),
  });
  await reportSoapNote(context, path, { text: exampleOf(soapNoteSchema).text, is_final: true });
  const storage_key = `${slug}/${path.key}.wav`;
  const egress = { organization_id, egress_id: story.EGRESS.egress_id };
  await env.RECORDINGS.put(storage_key, await demoRecording());
  await reportEgress(context, egress, { call_key: path.key, status: "egress_starting" });
  const file = { storage_key, started_at, duration: RECORDING_SECONDS * SECOND };
  await reportEgress(context, egress, { status: "egress_ended", is_stopped: true, ended_at, ...file });
  return true;
}

const INVITEES = [
  { email: "ian@example.com", display_name: "Ian Invited" },
  { email: "ida@example.com", display_name: "Ida Invited" },
];

/** The ids of new rows in the examples: see openapi/story.ts. Ids that are taken already stay as they are. */
async function numberLikeTheExamples(db: DrizzleD1Database) {
  const first = {
    organization_users: story.OLGA.id,
    // The demo's own client comes first.
    api_clients: story.API_CLIENT.id - 1,
    waiting_rooms: story.CARDIOLOGY.id,
    waiting_room_subs: story.SUB_ID,
    visits: story.HELD_VISIT.id,
    calls: story.CALL.id,
    participants: story.RITAS_PARTICIPANT.id,
    egresses: story.EGRESS.id,
    invites: story.INVITE_ID,
    bulk_invites: story.BULK_INVITE_ID,
    webhook_endpoints: story.WEBHOOK_ENDPOINT.id,
  };
  const line = exampleOf(transcriptSchema).transcript_lines[0]?.id ?? 0;
  await db
    .insert(sequences)
    .values({ name: "transcript_lines", value: line - 1 })
    .onConflictDoNothing();
  for (const [table, id] of Object.entries(first)) {
    await db.run(sql`DELETE FROM sqlite_sequence WHERE name = ${table} AND seq < ${id - 1}`);
    await db.run(sql`INSERT INTO sqlite_sequence (name, seq) SELECT ${table}, ${id - 1}
      WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = ${table})`);
  }
}
