import type { DatabaseSync } from "node:sqlite";
import { verifyAccessLog } from "../../src/client/access_log.ts";
import { readText } from "../../src/dev/migrations.ts";
import { fillInNumbers, rebuildFiles } from "../../src/dev/triggers.ts";
import { ORIGIN } from "../project/support/worker_in_node.ts";
import type { Clinic } from "./clinic.ts";
import type { World } from "./world.ts";

type Row = Record<string, unknown>;

/** Queries that must find nothing, whenever they run. */
const NEVER: Record<string, string> = {
  "two subs of a room overlap": `
    select one.id from waiting_room_subs one join waiting_room_subs other on other.waiting_room_id = one.waiting_room_id
      and other.id > one.id and other.datetime_start < one.datetime_end and one.datetime_start < other.datetime_end`,
  "a row names a row that does not exist": "pragma foreign_key_check",
  "two rooms have a slug": "select slug from waiting_rooms group by slug having count(*) > 1",
  "a write conflict was stored": "select * from write_conflicts",
};

/** Queries that must find nothing once everything has had its time. */
const NEVER_FOR_EVER: Record<string, string> = {
  "a webhook waits for ever": `
    select event_id from webhook_deliveries join webhook_endpoints on webhook_endpoints.id = webhook_endpoint_id
    where next_attempt_at is not null and is_active`,
  "a mail waits for ever":
    "select id from invites where mail_status = 'queued' and used_at is null and expires_at > :now",
  "a row of a bulk invite waits for ever": "select row from bulk_invite_rows where status = 'pending'",
  "a file waits for its deletion for ever":
    "select id from egresses where deletion_due_at < :now and storage_key is not null and not is_held",
};

/** Checks that hold at every moment. */
export function checkNow(world: World): void {
  for (const database of world.databases)
    for (const [sentence, query] of Object.entries(NEVER))
      if (database.prepare(query).all().length > 0) world.violation(sentence);
}

/** Checks that hold when nothing is under way. */
export async function checkAtRest(world: World, clinics: Clinic[]): Promise<void> {
  checkNow(world);
  for (const database of world.databases) {
    for (const [sentence, query] of Object.entries(NEVER_FOR_EVER)) {
      const statement = database.prepare(query);
      const found = query.includes(":now") ? statement.all({ now: world.schedule.now }) : statement.all();
      if (found.length > 0) world.violation(`${sentence}: ${JSON.stringify(found[0])}`);
    }
    checkRebuilds(world, database);
  }
  for (const clinic of clinics) checkClinic(world, clinic);
  checkMails(world);
  checkFiles(world);
  for (const clinic of clinics) await checkAccessLog(world, clinic);
  for (const fault of world.faults) world.violation(`the service failed: ${fault}`);
}

/** Data that triggers maintain must be the same as after a rebuild. */
function checkRebuilds(world: World, database: DatabaseSync): void {
  for (const [subject, file] of rebuildFiles()) {
    const sql = fillInNumbers(readText(file), file);
    const [, table = subject] = /(?:UPDATE|DELETE FROM) (\w+)/.exec(sql) ?? [];
    const rows = () =>
      database.prepare(`select * from ${table} order by 1, 2, 3`).all().filter(isNoZero).map(asText);
    const maintained = rows();
    database.exec("SAVEPOINT rebuilding");
    database.exec(sql);
    const rebuilt = rows();
    database.exec("ROLLBACK TO rebuilding; RELEASE rebuilding");
    const wrong =
      maintained.find((row) => !rebuilt.includes(row)) ?? rebuilt.find((row) => !maintained.includes(row));
    if (wrong) world.violation(`${subject} is not what a rebuild makes of it: ${wrong}`);
  }
}

/** A count that drops to zero stays as a row of zeros, which a rebuild does not create. */
const isNoZero = ({ total, total_calls, planned, held, missed, cancelled }: Row) =>
  total !== 0 && total_calls !== 0 && (planned !== 0 || Boolean(held || missed || cancelled));

/** A quarter hour whose counts drop to zero stays, too. */
const asText = ({ quarters = "{}", ...row }: Row) => {
  const counted = Object.entries<number[]>(JSON.parse(String(quarters))).filter(([, counts]) =>
    counts.some(Boolean),
  );
  return JSON.stringify([row, counted.sort()]);
};

function checkMails(world: World): void {
  const mailed = world.mails.map(({ to }) => to);
  const twice = mailed.find((to, n) => mailed.indexOf(to) !== n);
  if (!world.hasFaults && twice) world.violation(`${twice} got two mails, and nothing had failed`);
  for (const database of world.databases)
    for (const { email } of database.prepare("select email from invites where mail_status = 'sent'").all())
      if (!mailed.includes(String(email))) world.violation(`${email} never got a mail that counts as sent`);
}

function checkFiles(world: World): void {
  for (const database of world.databases)
    for (const { storage_key } of database
      .prepare("select storage_key from egresses where status = 'egress_deleted' and storage_key is not null")
      .all())
      if (world.files.has(`recordings/${storage_key}`))
        world.violation(`the file of a deleted recording is still there: ${storage_key}`);
}

/** Verifies the sealed days with the package for callers. */
async function checkAccessLog(world: World, { credentials, name }: Clinic): Promise<void> {
  const settings = {
    baseUrl: ORIGIN,
    clientId: credentials["X-Client-ID"] ?? "",
    clientSecret: credentials["X-Client-Secret"] ?? "",
    fetch: world.fetchAfterwards,
  };
  try {
    const { days } = await verifyAccessLog(settings);
    if (days === 0) world.violation(`no day of ${name} was sealed`);
  } catch (error) {
    world.violation(`the access log of ${name} is faulty: ${(error as Error).message}`);
  }
}

function checkClinic(world: World, clinic: Clinic): void {
  const { id, name } = clinic;
  const every = <R extends Row>(query: string, ...values: (string | number)[]) =>
    world.databases.flatMap((database) => database.prepare(query).all(...values)) as R[];

  for (const [unique, isCertain] of clinic.made) {
    const count = every(
      `select 1 from waiting_rooms where organization_id = ?1 and name = ?2
       union all select 1 from visits where organization_id = ?1 and external_reference = ?2
       union all select 1 from invites where organization_id = ?1 and email = ?2`,
      ...[id, unique],
    ).length;
    if (count > 1) world.violation(`${unique} was made ${count} times`);
    const isKept = unique.startsWith("Room");
    if (isCertain && isKept && count === 0) world.violation(`${unique} was answered, and is lost`);
  }

  for (const shown of clinic.shown) {
    const [resource = "", call_id = ""] = shown.split(" ");
    const query =
      "select 1 from access_logs where organization_id = ? and event = 'read' and resource = ? and call_id = ?";
    if (every(query, id, resource, Number(call_id)).length === 0)
      world.violation(`the access log of ${name} has no entry for the ${shown} that was shown`);
  }

  for (const endpoint of clinic.endpoints) {
    const { url } = endpoint;
    const [row] = every<{ id: number; created_at: number; is_active: number }>(
      "select id, created_at, is_active from webhook_endpoints where id = ?",
      endpoint.id,
    );
    if (!row?.is_active) continue;
    const first = endpoint.received.filter((event, n) => endpoint.received.indexOf(event) === n);
    const sorted = first.toSorted((a, b) => a - b);
    // A delivery that failed is sent again later, after newer ones.
    if (!world.hasFaults && first.join() !== sorted.join())
      world.violation(`${url} got events out of order: ${first}`);
    if (!world.hasFaults && first.length < endpoint.received.length)
      world.violation(`${url} got an event twice, and nothing had failed`);
    const delivered = every<{ event_id: number }>(
      "select event_id from webhook_deliveries where webhook_endpoint_id = ? and response_status < 300",
      row.id,
    );
    const lost = delivered.find(({ event_id }) => !endpoint.received.includes(event_id));
    if (lost) world.violation(`${url} never got the event ${lost.event_id}, which counts as delivered`);
  }

  const erased = clinic.patients.filter(({ isErased }) => isErased);
  for (const { display_name, external_reference } of erased)
    for (const database of world.databases) {
      const found = findText(database, [display_name, external_reference]);
      if (found) world.violation(`an erased patient is still in ${found}`);
    }
}

/** The table and column that contain one of the texts. */
export function findText(database: DatabaseSync, texts: string[]): string | undefined {
  const tables = database
    .prepare("select name from sqlite_master where type = 'table' and name not glob 'sqlite_*'")
    .all();
  for (const { name } of tables)
    for (const row of database.prepare(`select * from "${name}"`).all())
      for (const [column, value] of Object.entries(row))
        if (typeof value === "string" && texts.some((text) => value.includes(text)))
          return `${name}.${column}`;
}
