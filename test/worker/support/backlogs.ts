import { env } from "cloudflare:workers";
import { DAY } from "../../../src/units.ts";
import { anOrganization, given, type Organization, unique } from "./organization.ts";
import { aQueue, workerWith } from "./queue.ts";
import { countingRows, insertMany } from "./rows.ts";
import { manyOrganizations } from "./seals.ts";

/** A chore of the cron, with a way to give an organization much work for it. */
export interface Backlog {
  name: string;
  /** Inserts `size` rows that are due. */
  add: (organization: Organization, size: number) => Promise<void>;
  /** The table and condition of the rows that are due. */
  due: string;
}

async function addCalls(organization: Organization, size: number) {
  const owner = await organization.addProvider();
  const room = await organization.addRoom();
  const word = unique("old");
  await insertMany(
    size,
    `insert into calls (organization_id, key, organization_user_id, waiting_room_id, started_at, ended_at, failed, created_at, updated_at)
     select ?1, ?2 || '-' || n, ?3, ?4, ?5 + n, ?5 + n + 1, false, ?6, ?6 from counter`,
    organization.id,
    word,
    owner.id,
    room.id,
    Date.now() - 100 * DAY,
    Date.now(),
  );
  await env.DB.prepare(
    "update organizations set recording_retention_days = 30, transcript_retention_days = 30 where id = ?",
  )
    .bind(organization.id)
    .run();
}

/** Inserts a result for each call, with these columns and values of its own. */
const addResults =
  (table: string, columns: string, values: string) => async (organization: Organization, size: number) => {
    await addCalls(organization, size);
    await env.DB.prepare(
      `insert into ${table} (organization_id, call_id, ${columns}, created_at, updated_at)
       select organization_id, id, ${values}, 1, 1 from calls where organization_id = ?`,
    )
      .bind(organization.id)
      .run();
  };

export const insertCodes = ({ id, admin }: Organization, size: number, expires_at: number) =>
  insertMany(
    size,
    `insert into authorization_codes (organization_id, organization_user_id, code_digest, expires_at, created_at)
     select ?1, ?2, n || '-' || ?2 || '-' || ?3, ?3, 0 from counter`,
    id,
    admin.id,
    expires_at,
  );

export const insertIdempotencyKeys = ({ id, client }: Organization, size: number, created_at: number) =>
  insertMany(
    size,
    `insert into idempotency_keys (organization_id, api_client_id, key, fingerprint, created_at)
     select ?1, ?2, n || '-' || ?3, '', ?3 from counter`,
    id,
    client.id,
    created_at,
  );

export const insertEvents = ({ id }: Organization, size: number, created_at: number) =>
  insertMany(
    size,
    `insert into events (organization_id, type, data, created_at)
     select ?1, 'call.started', '{"call_id":1}', ?2 from counter`,
    id,
    created_at,
  );

/** Inserts `size` bulk invites with `rows` rows each, which are pending unless `completed`. */
export async function insertBulkInvites(
  { id, admin }: Organization,
  size: number,
  rows: number,
  at: number,
  completed = false,
) {
  await insertMany(
    size,
    `insert into bulk_invites (organization_id, created_by_user_id, total_count, completed_at, created_at, updated_at)
     select ?1, ?2, ?3, ?5, ?4, ?4 from counter`,
    id,
    admin.user_id,
    rows,
    at,
    completed ? at : null,
  );
  await insertMany(
    rows,
    `insert into bulk_invite_rows (organization_id, bulk_invite_id, row, email, display_name, roles, status)
     select ?1, bulk_invites.id, n - 1, n || '@rows.example', 'Invitee', '["provider"]', ?2
     from bulk_invites, counter where organization_id = ?1`,
    id,
    completed ? "created" : "pending",
  );
}

/** Inserts deliveries whose events are gone, for an endpoint that stays. Other organizations may have older events. */
async function addDeliveries(organization: Organization, size: number) {
  const { client, id } = organization;
  const webhook_endpoint = { url: `https://${unique("hooks")}.example.com`, is_active: false };
  const endpoint = await given(client.post("/webhook_endpoints", { webhook_endpoint }));
  const newest = Number(await env.DB.prepare("select max(id) as id from events").first("id"));
  await env.DB.prepare("delete from events where organization_id = ?").bind(id).run();
  await env.DB.prepare(
    `insert into events (id, organization_id, type, data, created_at) values (?, ?, 'call.started', '{"call_id":1}', ?)`,
  )
    .bind(newest + size + 1, id, Date.now())
    .run();
  await insertMany(
    size,
    `insert into webhook_deliveries (organization_id, webhook_endpoint_id, event_id) select ?1, ?2, ?3 + n from counter`,
    id,
    endpoint.id,
    newest,
  );
}

/** Inserts ongoing calls that nobody has reported for 30 days. */
async function addSilentCalls(organization: Organization, size: number) {
  await addCalls(organization, size);
  await env.DB.prepare("update calls set ended_at = null, updated_at = ? where organization_id = ?")
    .bind(Date.now() - 30 * DAY, organization.id)
    .run();
}

export const BACKLOGS: Backlog[] = [
  { name: "endSilentCalls", add: addSilentCalls, due: "calls where ended_at is null" },
  {
    name: "deleteOldCodes",
    add: (organization, size) => insertCodes(organization, size, 1),
    due: "authorization_codes where true",
  },
  {
    name: "deleteOldIdempotencyKeys",
    add: (organization, size) => insertIdempotencyKeys(organization, size, 1),
    due: "idempotency_keys where true",
  },
  {
    name: "deleteOldEvents",
    add: (organization, size) => insertEvents(organization, size, 1),
    due: "events where type = 'call.started'",
  },
  { name: "deleteOldDeliveries", add: addDeliveries, due: "webhook_deliveries where true" },
  {
    name: "erasePersonalData",
    add: (organization, size) => insertBulkInvites(organization, size, 1, Date.now() - 31 * DAY, true),
    due: "bulk_invite_rows where email <> ''",
  },
  {
    name: "deleteOldTexts",
    add: addResults("call_texts", "kind, is_final, text", "'soap_note', 1, 'Well.'"),
    due: "call_texts where true",
  },
  {
    name: "deleteOldRecordings",
    add: addResults("egresses", "egress_id, status, is_stopped", "key, 'egress_ended', 1"),
    due: "egresses where status <> 'egress_deleted'",
  },
];

/**
 * Runs the cron for many organizations with a few old events each, and one with a backlog of them: more than a portion in all.
 * Returns the number of rows that it read, and the old events that are left.
 */
export async function aRunForMany(organizations: number, each: number, backlog: number) {
  const large = await anOrganization();
  const { ids } = await manyOrganizations(organizations, new Date().toISOString());
  const old = "insert into events (organization_id, type, data, created_at) select";
  const event = "'call.started', '{\"call_id\":1}', 1";
  await insertMany(backlog, `${old} ?, ${event} from counter`, large.id);
  await insertMany(each, `${old} value, ${event} from json_each(?), counter`, JSON.stringify(ids));
  const counting = countingRows();
  const { rows_read } = await counting.during(() =>
    workerWith({ DB: counting.DB, BULK_INVITES: aQueue().binding }).runCron(),
  );
  const left = async (ofLarge: boolean) =>
    Number(
      await env.DB.prepare(
        "select count(*) as n from events where created_at = 1 and (organization_id = ?1) = ?2 and organization_id in (select value from json_each(?3))",
      )
        .bind(large.id, Number(ofLarge), JSON.stringify([...ids, large.id]))
        .first("n"),
    );
  return { rows_read, leftOfLarge: await left(true), leftOfOthers: await left(false) };
}

export async function anOrganizationWith(backlog: Backlog, size: number): Promise<Organization> {
  const organization = await anOrganization();
  await backlog.add(organization, size);
  return organization;
}

export const leftOf = async ({ due }: Backlog, { id }: { id: number }) =>
  Number(
    await env.DB.prepare(`select count(*) as n from ${due} and organization_id = ?`).bind(id).first("n"),
  );
