/** The data of the attacking organization, and its requests. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { openDatabase } from "../e2e/support/local_databases.ts";
import type { anOrganization } from "../e2e/support/organization.ts";
import { growCalls, type Run } from "../support/grown.ts";
import { aCallToTranscribe, aLargestTranscript, linesOf } from "../support/largest_texts.ts";

export interface Attacker extends Awaited<ReturnType<typeof anOrganization>> {
  url: string;
  data: string;
  /** The credentials of a new API client of the organization. It acts as the administrator, or as another member. */
  aClient(organization_user_id?: number): Promise<Credentials>;
}

export type Credentials = Record<string, string>;

/** Sends one request, reads the whole response, and returns its status. */
export type Send = () => Promise<number>;

/** The number of items in a list whose last pages are requested. */
export const MANY = 100_000;

const DAY = 86_400_000;

export async function send(
  { url }: { url: string },
  headers: Credentials,
  method: string,
  path: string,
  body?: object,
): Promise<number> {
  const sent = { method, headers, ...(body && { body: JSON.stringify(body) }) };
  const response = await fetch(`${url}/api/external${path}`, sent);
  for await (const _ of response.body ?? []);
  return response.status;
}

/** Plans a visit of about 60 KB, and cancels it. */
export async function planAndCancel(
  attacker: Attacker,
  headers: Credentials,
  waiting_room_slug: string,
): Promise<number> {
  const longest = "🩺".repeat(255);
  const participant = { role: "recipient", display_name: longest, external_reference: longest };
  const visit = {
    waiting_room_slug,
    starts_at: new Date(Date.now() + 30 * DAY).toISOString(),
    external_reference: longest,
    participants: Array(20).fill(participant),
  };
  const sent = { method: "POST", headers, body: JSON.stringify({ visit }) };
  const response = await fetch(`${attacker.url}/api/external/visits`, sent);
  const { id } = (await response.json()) as { id?: number };
  if (id !== undefined) await send(attacker, headers, "DELETE", `/visits/${id}`);
  return response.status;
}

/** The URL of a receiver of webhooks that answers at once. */
export function aReceiver(): Promise<string> {
  const server = createServer((received, response) => {
    received.resume();
    response.writeHead(204).end();
  });
  return new Promise((resolve) =>
    server.listen(0, "127.0.0.1", () =>
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`),
    ),
  );
}

export async function repeat<T>(count: number, make: () => Promise<T>): Promise<T[]> {
  const made: T[] = [];
  while (made.length < count) made.push(await make());
  return made;
}

/** Writes rows into the server's database, which is locked meanwhile. */
export async function withRows<T>(
  { data }: Attacker,
  write: (run: Run, database: DatabaseSync) => Promise<T>,
): Promise<T> {
  const database = openDatabase(data);
  try {
    // The server may still be writing for an earlier request.
    database.exec("pragma busy_timeout = 30000; begin immediate");
    const run: Run = async (statement, ...values) => database.prepare(statement).run(...(values as number[]));
    const result = await write(run, database);
    database.exec("commit");
    return result;
  } finally {
    database.close();
    // The server closes idle connections, which this process has not noticed while it wrote.
    await setTimeout(100);
  }
}

/** Five ordinary requests: a room, the rooms, metrics, the calls of a provider, and a transcript of five minutes. */
export async function ordinaryPaths(
  clinic: Pick<Attacker, "addUser" | "base" | "platform" | "external">,
): Promise<string[]> {
  const provider = await clinic.addUser("paula", "provider");
  const { path, report } = await aCallToTranscribe(clinic, provider);
  await report(linesOf(50, 150));
  return [
    `/waiting_rooms/${provider.waiting_room_slug}`,
    "/waiting_rooms",
    "/call_metrics",
    `/organization_users/${provider.id}/calls`,
    path,
  ];
}

export async function largestTranscripts(attacker: Attacker): Promise<string[]> {
  const provider = await attacker.addUser("pascal", "provider");
  return [
    await aLargestTranscript(attacker, provider, "many lines"),
    await aLargestTranscript(attacker, provider, "many random lines"),
  ];
}

/** The deepest pages of lists, and filters that match most items. */
export async function deepPages(attacker: Attacker): Promise<string[]> {
  const { organization, user, addUser } = attacker;
  const provider = await addUser("pascal", "provider");
  const { id } = organization;
  const now = Date.now();
  const recording = await withRows(attacker, async (run, database) => {
    const room_id = roomOf(database, provider.id);
    await growCalls(run, { id, provider_id: provider.id, room_id }, MANY, now, `${now} - n * 60000`);
    for (const table of ["calls", "people"])
      await run(`update ${table} set external_reference = 'popular' where organization_id = ?1`, id);
    const egress = database.prepare("select id, call_id from egresses where organization_id = ?").get(id);
    const rows = (table: string, columns: string, select: string, count = MANY) =>
      run(
        `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${count})
        insert into ${table} (organization_id, ${columns}) select ?1, ${select} from numbers`,
        id,
      );
    await rows(
      "egress_audit_logs",
      "egress_id, event, user_id, created_at",
      `${egress?.id}, 'read', 1, ${now} - n * 1000`,
    );
    await rows(
      "invites",
      "created_by_user_id, email, display_name, roles, expires_at, created_at, updated_at",
      `${user.id}, n || '@invitees.example', 'Ivy Invitee', '["provider"]', ${now + DAY}, ${now}, ${now}`,
      9000,
    );
    await rows(
      "waiting_rooms",
      "name, name_key, slug, theme, is_active, created_at, updated_at",
      `'Room', 'room', '${organization.slug}--grown-' || n, 'default', true, ${now}, ${now}`,
      15_000,
    );
    await rows(
      "visits",
      "waiting_room_id, external_reference, status, starts_at, ends_at, last_participant_id, created_at, updated_at",
      `${room_id}, 'popular', 'planned', ${now} + n * 60000, ${now} + n * 60000 + 1, 0, ${now}, ${now}`,
      MANY - 1,
    );
    await rows(
      "access_logs",
      "at, event, resource, resource_id, user_id",
      `${now}, 'update', 'waiting_room', n, ${user.id}`,
    );
    return `/organization_users/${provider.id}/calls/${egress?.call_id}/egresses/${egress?.id}`;
  });
  return [
    `${recording}/audit_logs?page=1000&per_page=100`,
    "/invites?page=90&per_page=100",
    "/waiting_rooms?page=150&per_page=100",
    "/calls?participant_reference=popular&per_page=100",
    "/calls?participant_reference=popular&external_reference=none&per_page=100",
    "/calls?external_reference=popular&per_page=100",
    "/visits?external_reference=popular&status=cancelled&per_page=100",
    `/visits?external_reference=popular&organization_user_id=${provider.id}&per_page=100`,
    "/access_logs?resource=transcript&per_page=100",
    "/access_logs?external_reference=popular&per_page=100",
  ];
}

const roomOf = (database: DatabaseSync, owner_id: number) =>
  Number(database.prepare("select id from waiting_rooms where user_id = ?").get(owner_id)?.id);

export function inTurn(requests: Send[]): Send {
  let count = 0;
  return () => (requests[count++ % requests.length] as Send)();
}
