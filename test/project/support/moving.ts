/** Organizations that move between databases in memory. */

import { createHash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { SCHEMA } from "../../../src/dev/exported_copy.ts";
import type { FileStore } from "../../../src/dev/file_store.ts";
import { isMoved } from "../../../src/dev/move_statements.ts";
import { tablesOf } from "../../../src/dev/organization_rows.ts";
import type { Regions } from "../../../src/dev/region_files.ts";
import { type Rows, type Run, runWith } from "../../../src/dev/statement_runner.ts";
import { RECORDED_PARTICIPANTS } from "../../support/recorded_participants.ts";
import { bindingsOfShards, databasesInMemory } from "./busy_shards.ts";
import { writeRowsInEveryTable } from "./every_table.ts";

/** Runs statements in databases of this process, each batch as a transaction. As over a network, others may run between batches. */
export const runIn = (databases: DatabaseSync[]): Run =>
  runWith(bindingsOfShards(databases, () => new Promise((resolve) => setImmediate(resolve))));

/** Fails after this many batches, as if the process was killed: it does not clean up either. */
export function dyingAfter(batches: number, run: Run, live = livingFor(batches)): Run {
  return async (shard, statements) => {
    live();
    return run(shard, statements);
  };
}

/** Counts steps of the databases and of the buckets. */
export function livingFor(steps: number): () => void {
  let left = steps;
  return () => {
    if (left === 0) throw new Error("killed");
    left--;
  };
}

const schemaOf = (database: DatabaseSync) => database.prepare(SCHEMA).all() as Rows;

/** A digest of an organization's rows, by table, without computed columns and implicit rowids. */
export function digestsOf(
  database: DatabaseSync,
  id: number,
): Record<string, { count: number; sha256: string }> {
  const tables = tablesOf(schemaOf(database)).filter(isMoved);
  return Object.fromEntries(
    tables.map(({ name, columns }) => {
      const stored = columns.filter(({ isStored }) => isStored).map((column) => `"${column.name}"`);
      const owner = name === "organizations" ? "id" : "organization_id";
      const rows = database
        .prepare(`select ${stored} from ${name} where ${owner} = ? order by ${stored}`)
        .all(id);
      const hash = createHash("sha256");
      for (const row of rows)
        hash.update(
          JSON.stringify(row, (_, value) =>
            ArrayBuffer.isView(value) ? Buffer.from(value as Uint8Array).toString("base64") : value,
          ),
        );
      return [name, { count: rows.length, sha256: hash.digest("hex") }];
    }),
  );
}

/** The lengths of the organization's lists, as the triggers count them. */
export const listTotalsOf = (database: DatabaseSync, id: number) =>
  database
    .prepare(
      `select list, owner_id, total from list_totals where total > 0 and (owner_id = ?1 and list in ('invites', 'waiting_rooms')
        or owner_id in (select id from egresses where organization_id = ?1) and list like 'egress%') order by 1, 2`,
    )
    .all(id);

export const triggersOf = (database: DatabaseSync) =>
  database
    .prepare("select name, sql from sqlite_schema where type = 'trigger' order by tbl_name, rowid")
    .all();

/** Dates a completed move back, so that no isolate uses the old rows any more. */
export function letMinutesPass(databases: DatabaseSync[]) {
  for (const database of databases) database.exec("update moves set since = 0 where shard is not null");
}

/** The databases in which requests find the organization and may write. */
export const homesOf = (databases: DatabaseSync[], id: number): number[] =>
  databases.flatMap((database, shard) =>
    database.prepare("select 1 from organizations where id = ?").get(id) &&
    !database.prepare("select 1 from moves where organization_id = ?").get(id)
      ? [shard]
      : [],
  );

/** Three databases. The first has the organizations 1 and 2, with rows in every table. */
export function twoOrganizations() {
  const databases = databasesInMemory(3) as [DatabaseSync, DatabaseSync, DatabaseSync];
  const [first] = databases;
  writeRowsInEveryTable(first);
  first.exec(`delete from database_settings; delete from moves; update places set shard = 0, slug = 'clinic' || id;
    update call_texts set lines = randomblob(1000) where lines is not null;
    update organizations set slug = 'clinic' || id;
    update waiting_room_slugs set slug = 'clinic' || organization_id || '--' || slug`);
  return { databases, run: runIn(databases) };
}

/**
 * Adds about this many rows to an organization: calls with two participants, some with an hour's transcript, and
 * entries of the access log about them.
 */
export function fillOrganization(
  database: DatabaseSync,
  id: number,
  { rows, hours }: { rows: number; hours: number },
) {
  const [user] = database.prepare("select id from organization_users where organization_id = ?").all(id);
  const slug = String(database.prepare("select slug from organizations where id = ?").get(id)?.slug);
  database.exec(`begin;
    insert into waiting_rooms (organization_id, name, name_key, slug, theme, is_active, created_at, updated_at)
      values (${id}, 'Filled', 'filled', '${slug}--filled', 'default', 1, 1, 1);
    create temp table counter as with recursive c (n) as (select 1 union all select n + 1 from c where n < ${rows}) select n from c;`);
  const counted = (count: number, statement: string) =>
    database.exec(`${statement} from counter where n <= ${Math.floor(count)}`);
  const calls = Math.max(hours, rows / 10);
  counted(
    calls,
    `insert into calls (organization_id, key, organization_user_id, waiting_room_id, started_at, ended_at, created_at, updated_at)
      select ${id}, 'filled-' || n, ${user?.id}, (select max(id) from waiting_rooms), n * 1000, n * 1000 + 3600000, 1, 1`,
  );
  for (const statement of RECORDED_PARTICIPANTS) database.exec(statement);
  const first = "(select min(id) from calls where key = 'filled-1')";
  counted(
    calls * 2,
    `insert into recorded_participants (organization_id, key, waiting_room_id, call_id, display_name, role, left_at, created_at, updated_at)
      select ${id}, 'filled-' || n, (select max(id) from waiting_rooms), ${first} + (n - 1) / 2, 'Rita Recipient', 'recipient', n, 1, 1`,
  );
  counted(
    hours,
    `insert into call_texts (organization_id, call_id, kind, summary, is_final, lines_digest, created_at, updated_at, lines)
      select ${id}, ${first} + n - 1, 'transcript', 'A summary.', 1, 'digest', 1, 1, randomblob(30000)`,
  );
  counted(
    rows / 2,
    `insert into access_logs (organization_id, at, event, resource, user_id) select ${id}, n, 'read', 'transcript', ${user?.id}`,
  );
  database.exec("drop view recorded_participants; drop table counter; commit");
}

/** Two regions with buckets in memory: `us` for the first database, and `eu` for the others. */
export function twoRegions() {
  const aBucket = () => new Map<string, string>();
  const [usRecordings, usDays, euRecordings, euDays] = [aBucket(), aBucket(), aBucket(), aBucket()];
  const regionOf = (shard: number) => (shard === 0 ? "us" : "eu");
  const inRegions = (beforeEach: (read?: string) => void = () => {}): Regions => ({
    regionOf,
    filesOf(shard) {
      const region = regionOf(shard);
      const recordings = storeOf(region === "us" ? usRecordings : euRecordings, beforeEach);
      const auditLogs = storeOf(region === "us" ? usDays : euDays, beforeEach);
      return {
        region,
        bucketName: `recordings-${region}`,
        recordings,
        auditLogs,
        lockedDays: async () => 0,
      };
    },
  });
  return { inRegions, usRecordings, usDays, euRecordings, euDays };
}

const md5Of = (text: string) => createHash("md5").update(text).digest("hex");

/** Names the digests of half the files, as if the others had been uploaded in parts. */
function storeOf(files: Map<string, string>, beforeEach: (read?: string) => void): FileStore {
  const uploaded = Date.now();
  return {
    async list(prefix) {
      beforeEach();
      const found = [...files].filter(([key]) => key.startsWith(prefix));
      return found.map(([key, text]) => ({
        ...{ key, size: text.length, uploaded },
        md5: text.length % 2 ? md5Of(text) : undefined,
      }));
    },
    async read(key) {
      beforeEach(key);
      const text = files.get(key);
      return text === undefined ? null : new Response(text);
    },
    async write({ key }, body) {
      beforeEach();
      const text = await new Response(body).text();
      files.set(key, text);
      return md5Of(text);
    },
    async remove(keys) {
      beforeEach();
      for (const key of keys) files.delete(key);
      return new Map();
    },
  };
}
