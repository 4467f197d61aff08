import { eq } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { digest } from "../bytes/digest.ts";
import { reportCall } from "../calls/calls/calls.reports.ts";
import { type ClientContext, type Context, openContext } from "../context.ts";
import { createInvite } from "../joining/invites/invites.service.ts";
import { createUser } from "../joining/organization_users/organization_users.service.ts";
import { SECRET_HINT_LENGTH } from "../limits.ts";
import { apiClients } from "../organization/api_clients/api_clients.table.ts";
import { createOrganization } from "../organization/organizations/organizations.service.ts";
import { DEMO_CLIENT } from "../reference/demo_client.ts";
import { reportEgress } from "../results/egresses/egresses.service.ts";
import { reportSoapNote } from "../results/soap_notes/soap_notes.service.ts";
import { reportTranscript } from "../results/transcripts/transcripts.service.ts";
import { createWaitingRoomSub } from "../rooms/waiting_room_subs/waiting_room_subs.service.ts";
import { createWaitingRoom } from "../rooms/waiting_rooms/waiting_rooms.service.ts";
import { DAY, HOUR } from "../units.ts";

/**
 * Creates the demo organization, with dates relative to now, unless it exists.
 *
 * @returns whether it was created
 */
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
  const { id: organization_id } = await createOrganization(earlier, { name: DEMO_CLIENT.organization });
  const addUser = (display_name: string, role: "organization_admin" | "provider") => {
    const email = `${display_name.split(" ")[0]?.toLowerCase()}@demo-clinic.example`;
    return createUser(earlier, organization_id, { email, display_name, roles: [role] });
  };
  const admin = await addUser("Amira Admin", "organization_admin");
  const provider = await addUser("Pascal Provider", "provider");
  const substitute = await addUser("Salma Substitute", "provider");

  const client = await db
    .insert(apiClients)
    .values({
      organization_id,
      organization_user_id: admin.id,
      name: "Demo client",
      client_id: DEMO_CLIENT.client_id,
      secret_digest: await digest(DEMO_CLIENT.client_secret),
      secret_hint: DEMO_CLIENT.client_secret.slice(-SECRET_HINT_LENGTH),
      created_at: now,
      updated_at: now,
    })
    .returning({ id: apiClients.id })
    .get();
  const clientContext: ClientContext = {
    ...context,
    url: "",
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

  const { slug: cardiology } = await createWaitingRoom(clientContext, {
    name: "Cardiology",
    is_active: true,
  });
  await createWaitingRoom(clientContext, { name: "Dermatology", is_active: true });
  const nextHour = Math.ceil(now / HOUR) * HOUR;
  await createWaitingRoomSub(clientContext, cardiology, {
    user_id: substitute.id,
    datetime_start: nextHour,
    datetime_end: nextHour + 8 * HOUR,
  });

  // Created yesterday, so that they can be sent again.
  const yesterday = { ...clientContext, mailer: null, now: now - DAY };
  for (const name of ["Ida", "Ian", "Iris"])
    await createInvite(yesterday, {
      email: `${name.toLowerCase()}@demo-clinic.example`,
      display_name: `${name} Invitee`,
      role_names: ["provider"],
    });

  const ofProvider = { organization_id, organization_user_id: provider.id };
  await reportYesterdaysCall(context, env, ofProvider, cardiology);
  return true;
}

async function reportYesterdaysCall(
  context: Context,
  env: Env,
  { organization_id, organization_user_id }: { organization_id: number; organization_user_id: number },
  waiting_room_slug: string,
) {
  const path = { organization_id, key: "demo-call" };
  const started_at = Math.floor(context.now / DAY) * DAY - 14 * HOUR;
  const ended_at = started_at + HOUR / 3;
  const joined = { joined_at: started_at, recording_consent: true };
  await reportCall(context, path, {
    waiting_room_slug,
    organization_user_id,
    started_at,
    ended_at,
    participants: [
      { key: "demo-provider", display_name: "Pascal Provider", role: "provider", ...joined },
      {
        key: "demo-recipient",
        display_name: "Remy Recipient",
        role: "recipient",
        external_reference: "patient-4711",
        waiting_since: started_at - HOUR / 20,
        ...joined,
      },
    ],
  });
  const question = { text: "Good morning, how are you?", start_time: 0, end_time: 1.8 };
  const answer = { text: "Better, thank you.", start_time: 2.1, end_time: 3.4 };
  await reportTranscript(context, path, {
    summary: "A follow-up on blood pressure, which has come down. The medication stays as it is.",
    is_final: true,
    lines: [
      { participant_key: "demo-provider", place: 0, ...question },
      { participant_key: "demo-recipient", place: 1, ...answer },
    ],
  });
  await reportSoapNote(context, path, {
    text: "Subjective: feels better.\nObjective: 128/82 at home.\nAssessment: improving.\nPlan: as before.",
    is_final: true,
  });
  const storage_key = `demo-clinic/${path.key}.wav`;
  const egress = { organization_id, egress_id: "demo-egress" };
  await env.RECORDINGS.put(storage_key, await demoRecording());
  await reportEgress(context, egress, { call_key: path.key, status: "egress_starting" });
  await reportEgress(context, egress, { status: "egress_ended", is_stopped: true, ended_at, storage_key });
}

const SAMPLE_RATE = 8000;
const NOTES = [523.25, 659.25, 783.99];

/** A small recording that any player can play: three notes of a second each, as WAV (RIFF, PCM, 16 bits, mono). */
function demoRecording(): Promise<ArrayBuffer> {
  const samples = new Int16Array(NOTES.length * SAMPLE_RATE).map((_, n) => {
    const second = n / SAMPLE_RATE;
    const note = NOTES[Math.floor(second)] ?? 0;
    return 12_000 * Math.exp(-3 * (second % 1)) * Math.sin(2 * Math.PI * note * second);
  });
  const { byteLength } = samples;
  const pcm = Uint32Array.of(16, 0x0001_0001, SAMPLE_RATE, 2 * SAMPLE_RATE, 0x0010_0002);
  const word = (value: number) => Uint32Array.of(value);
  const head = ["RIFF", word(36 + byteLength), "WAVEfmt ", pcm];
  return new Blob([...head, "data", word(byteLength), samples]).arrayBuffer();
}
