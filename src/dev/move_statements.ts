/** The SQL with which an organization is moved: see move.ts. */
import { IS_MOVING } from "../database/causes.ts";
import { rangeStatements } from "./shard_statements.ts";
import type { Table } from "./size_statements.ts";
import type { Statement } from "./statement_runner.ts";

/** An organization, and the database to which it moves. */
export interface Move {
  id: number;
  to: number;
}

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;

/** What an organization has. */
export const isMoved = ({ name, columns }: Table): boolean =>
  name === "organizations" ||
  (name !== "moves" && columns.some((column) => column.name === "organization_id"));

/** Computed columns are computed again. */
const storedColumns = ({ columns }: Table) => columns.filter(({ isStored }) => isStored);

const columnsOf = (table: Table) =>
  storedColumns(table)
    .map(({ name }) => `"${name}"`)
    .join(", ");

/** By whose rows those of a table are found that has no index of its own by organization: the column, and the parent. */
const PARENTS: Record<string, [column: string, parent: string, partial?: string]> = {
  organization_user_assists: ["assistant_id", "organization_users"],
  waiting_room_subs: ["waiting_room_id", "waiting_rooms"],
  legal_holds: ["call_id", "calls", "ended_at"],
  consents: ["participant_id", "participants", "said_at"],
  call_text_versions: ["text_id", "call_texts"],
  egress_audit_logs: ["egress_id", "egresses"],
  bulk_invite_rows: ["bulk_invite_id", "bulk_invites"],
  webhook_deliveries: ["webhook_endpoint_id", "webhook_endpoints"],
};

/** The rows of the organization in a table, found by an index. A delivery whose endpoint is gone is left for the cron. */
export function rowsOf({ name }: Pick<Table, "name">, id: number): string {
  if (name === "organizations") return `id = ${id}`;
  // Nothing but its slug begins with the organization's and two hyphens.
  if (name === "waiting_room_slugs")
    return `organization_id = ${id} AND slug >= (SELECT slug || '--' FROM organizations WHERE id = ${id})
      AND slug < (SELECT slug || '-.' FROM organizations WHERE id = ${id})`;
  const [column, parent, partial] = PARENTS[name] ?? [];
  if (!column || !parent) return `organization_id = ${id}`;
  const ofParent = `${column} IN (SELECT id FROM ${parent} WHERE ${rowsOf({ name: parent }, id)})`;
  // Each half has a partial index.
  return partial
    ? `(${ofParent} AND ${partial} IS NULL OR ${ofParent} AND ${partial} IS NOT NULL)`
    : ofParent;
}

/* In the database that the organization leaves: */

/** Which rows are to be copied: at first all, then those that change. Its name says where to. */
const queueOf = ({ id, to }: Move) => `moving_${id}_to_${to}`;

export const FIND_QUEUES = (id: number) =>
  `SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'moving\\_${id}\\_to\\_%' ESCAPE '\\'`;

/** An entry that is written again gets another number, so that no change is lost while an earlier one is copied. */
export const createQueue = (move: Move) =>
  `CREATE TABLE ${queueOf(move)} (seq INTEGER PRIMARY KEY AUTOINCREMENT, tab TEXT NOT NULL, row INTEGER NOT NULL, UNIQUE (tab, row))`;

export const dropQueue = (move: Move) => `DROP TABLE IF EXISTS ${queueOf(move)}`;

export const emptyQueue = (move: Move) => `DELETE FROM ${queueOf(move)}`;

const EVENTS = { INSERT: "new", UPDATE: "new", DELETE: "old" } as const;

const eachTrigger = (id: number, tables: Table[]) =>
  tables.flatMap((table) =>
    Object.entries(EVENTS).map(([event, row]) => ({
      table,
      event,
      row,
      name: `moving_${id}_${table.name}_${event.toLowerCase()}`,
    })),
  );

/**
 * They note what changes, and refuse it from the time when the organization is marked as moving. Not with REPLACE: the statement
 * that fires a trigger decides for it what becomes of a conflict.
 */
export const createTriggers = (move: Move, tables: Table[]) =>
  eachTrigger(move.id, tables).map(
    ({ name, event, table, row }) => `CREATE TRIGGER ${name} AFTER ${event} ON ${table.name}
WHEN ${row}.${table.name === "organizations" ? "id" : "organization_id"} = ${move.id}
BEGIN
  SELECT raise(ABORT, '${IS_MOVING}') FROM moves WHERE organization_id = ${move.id};
  DELETE FROM ${queueOf(move)} WHERE tab = ${quoted(table.name)} AND row = ${row}.rowid;
  INSERT INTO ${queueOf(move)} (tab, row) VALUES (${quoted(table.name)}, ${row}.rowid);
END`,
  );

export const dropTriggers = (id: number, tables: Table[]) =>
  eachTrigger(id, tables).map(({ name }) => `DROP TRIGGER IF EXISTS ${name}`);

export const queueAll = (move: Move, table: Table) =>
  `INSERT INTO ${queueOf(move)} (tab, row) SELECT ${quoted(table.name)}, rowid FROM ${table.name}
    WHERE ${rowsOf(table, move.id)} ON CONFLICT DO NOTHING`;

/** An entry of no table. */
export const markAsFilled = (move: Move) => `INSERT INTO ${queueOf(move)} (tab, row) VALUES ('', 0)`;

export const isFilled = (move: Move) => `SELECT 1 FROM ${queueOf(move)} WHERE tab = ''`;

export const countQueue = (move: Move) => `SELECT count(*) AS left FROM ${queueOf(move)} WHERE tab <> ''`;

/** A row as JSON. A BLOB is hex in it, which of null would be an empty text. */
const asJson = (table: Table, from: string) =>
  `json_array(${storedColumns(table)
    .map(({ name, type }) => {
      const value = `${from}."${name}"`;
      return isBlob(type) ? `iif(${value} IS NULL, NULL, hex(${value}))` : value;
    })
    .join(", ")})`;

const isBlob = (type: string) => type.toUpperCase() === "BLOB";

/** The next rows of a table to be copied. `data` is null for one that was deleted. */
export const nextRows = (move: Move, table: Table, limit: number) =>
  `SELECT q.seq, q.row, iif(own.rowid IS NULL, NULL, ${asJson(table, "own")}) AS data
    FROM (SELECT seq, row FROM ${queueOf(move)} WHERE tab = ${quoted(table.name)} ORDER BY seq LIMIT ${limit}) AS q
    LEFT JOIN ${table.name} AS own ON own.rowid = q.row`;

export const takeOff = (move: Move, seqs: number[]): Statement => ({
  sql: `DELETE FROM ${queueOf(move)} WHERE seq IN (SELECT value FROM json_each(?))`,
  params: [JSON.stringify(seqs)],
});

/** From here on, no work is done for the organization, and the triggers refuse its writes. */
export const markAsMoving = ({ id }: Move, attempt: string): Statement => ({
  sql: `INSERT INTO moves (organization_id, slug, attempt, client_ids)
    SELECT id, slug, ?, (SELECT json_group_array(client_id) FROM api_clients WHERE organization_id = ${id} AND revoked_at IS NULL)
    FROM organizations WHERE id = ${id}`,
  params: [attempt],
});

/** The attempt that has decided: its move is no longer taken back. */
const DECIDED = "decided";

const changeAttempt = (id: number, next: string, condition: string, known: string[]): Statement => ({
  sql: `UPDATE moves SET attempt = ? WHERE organization_id = ${id} AND ${condition} RETURNING 1 AS ours`,
  params: [next, ...known],
});

/** Takes over from an attempt that was interrupted, unless it has decided. If it still runs, it cannot decide any more. */
export const takeOver = (id: number, attempt: string) =>
  changeAttempt(id, attempt, "attempt <> ?", [DECIDED]);

/** A row where the attempt is still the one that moves it. */
export const isOurs = (id: number, attempt: string) => changeAttempt(id, attempt, "attempt = ?", [attempt]);

export const decideToMove = (id: number, attempt: string) =>
  changeAttempt(id, DECIDED, "attempt = ?", [attempt]);

export const unmark = (id: number) => `DELETE FROM moves WHERE organization_id = ${id}`;

/* In the database to which it moves. Its rows wait beside the tables, where no trigger, chore or request knows of them. */

const waitingOf = ({ id }: Move, table: Pick<Table, "name">) => `moved_${id}_${table.name}`;

/** With their types: D1 binds numbers as floating-point ones, and a column of integers makes integers of them. */
export const createWaiting = (move: Move, tables: Table[]) =>
  tables.map((table) => {
    const columns = storedColumns(table).map(({ name, type }) => `"${name}" ${type}`);
    return `CREATE TABLE ${waitingOf(move, table)} (moved_row INTEGER PRIMARY KEY, ${columns.join(", ")})`;
  });

export const dropWaiting = (move: Move, tables: Table[]) =>
  tables.map((table) => `DROP TABLE IF EXISTS ${waitingOf(move, table)}`);

const intoWaiting = (move: Move, table: Table) =>
  `INSERT OR REPLACE INTO ${waitingOf(move, table)} (moved_row, ${columnsOf(table)})`;

/** @param rows a JSON array of [row, data] */
export const writeWaiting = (move: Move, table: Table, rows: string): Statement => ({
  sql: `${intoWaiting(move, table)} SELECT value ->> '$[0]', ${storedColumns(table)
    .map(({ type }, n) => (isBlob(type) ? `unhex(value ->> '$[1][${n}]')` : `value ->> '$[1][${n}]'`))
    .join(", ")} FROM json_each(?)`,
  params: [rows],
});

/** For a row that is too long for one parameter. */
export const writeLongWaiting = (move: Move, table: Table, row: number, data: string): Statement => ({
  sql: `${intoWaiting(move, table)} VALUES (?, ${storedColumns(table).map(({ type }) => (isBlob(type) ? "unhex(?)" : "?"))})`,
  params: [row, ...JSON.parse(data)],
});

export const removeWaiting = (move: Move, table: Table, rows: number[]): Statement => ({
  sql: `DELETE FROM ${waitingOf(move, table)} WHERE moved_row IN (SELECT value FROM json_each(?))`,
  params: [JSON.stringify(rows)],
});

/** What was written, to be compared with what was read. */
export const readWaiting = (move: Move, table: Table, rows: number[]): Statement => ({
  sql: `SELECT moved_row AS row, ${asJson(table, "waiting")} AS data FROM ${waitingOf(move, table)} AS waiting
    WHERE moved_row IN (SELECT value FROM json_each(?)) ORDER BY moved_row`,
  params: [JSON.stringify(rows)],
});

/** One row, with a column for each table. */
export const countWaiting = (move: Move, tables: Table[]) =>
  `SELECT ${tables.map((table) => `(SELECT count(*) FROM ${waitingOf(move, table)}) AS ${table.name}`).join(", ")}`;

export const takeIn = (move: Move, table: Table, limit: number, offset: number) =>
  `INSERT INTO ${table.name} (${columnsOf(table)}) SELECT ${columnsOf(table)} FROM ${waitingOf(move, table)}
    ORDER BY moved_row LIMIT ${limit} OFFSET ${offset}`;

/**
 * While its rows are taken in, no work is done for them. An organization that lived here before has left word of that. One that lives
 * here is not marked, though this comes late.
 */
export const markAsArriving = ({ id }: Move, slug: string): Statement => ({
  sql: `INSERT INTO moves (organization_id, slug) SELECT ${id}, ? WHERE NOT EXISTS (SELECT 1 FROM organizations WHERE id = ${id})
    ON CONFLICT DO NOTHING`,
  params: [slug],
});

/** The lengths of its lists, which triggers would have counted: as in list_totals.rebuild.sql. */
export const countLists = (id: number) => [
  `INSERT INTO list_totals (list, owner_id, total)
    SELECT 'invites', organization_id, count(*) FROM invites WHERE organization_id = ${id} AND used_at IS NULL GROUP BY 2`,
  `INSERT INTO list_totals (list, owner_id, total)
    SELECT 'egress_audit_logs:' || event, egress_id, count(*) FROM egress_audit_logs
    WHERE ${rowsOf({ name: "egress_audit_logs" }, id)} GROUP BY 1, 2`,
  `INSERT INTO list_totals (list, owner_id, total)
    SELECT 'waiting_rooms', organization_id, count(*) FROM waiting_rooms WHERE organization_id = ${id} AND user_id IS NULL GROUP BY 2`,
  ...["organization_users", "api_clients", "issuers"].map(
    (table) => `INSERT INTO list_totals (list, owner_id, total)
    SELECT '${table}', organization_id, count(*) FROM ${table} WHERE organization_id = ${id} GROUP BY 2`,
  ),
];

export const deleteListTotals = (id: number) =>
  `DELETE FROM list_totals WHERE (list IN ('invites', 'waiting_rooms', 'organization_users', 'api_clients', 'issuers') AND owner_id = ${id})
    OR (list IN ('egress_audit_logs:create', 'egress_audit_logs:update', 'egress_audit_logs:read')
      AND owner_id IN (SELECT id FROM egresses WHERE organization_id = ${id}))`;

/** How many rows each table has of the organization, and a sum of each column: the same on both sides, or something was lost. */
export const digest = (tables: Table[], id: number) =>
  `SELECT json_array(${tables.map((table) => `(${digestOf(table, id)})`).join(", ")}) AS digest`;

const digestOf = (table: Table, id: number) =>
  `SELECT json_array(count(*), ${storedColumns(table)
    .map(({ name, type }) =>
      type.toUpperCase() === "INTEGER"
        ? `sum("${name}" % 1000003)`
        : `sum(octet_length("${name}")), sum(unicode(substr("${name}", -1)))`,
    )
    .join(", ")}) FROM ${table.name} WHERE ${rowsOf(table, id)}`;

/** Fails the batch, unless the database holds just these rows. */
export const requireDigest = (tables: Table[], id: number, expected: string): Statement => ({
  sql: `INSERT INTO write_conflicts (reason) SELECT 'the rows differ after they were copied'
    WHERE (${digest(tables, id)}) IS NOT ?`,
  params: [expected],
});

/** Fails the batch where the organization lives in the database, such as one that comes late. */
export const requireAbsence = (id: number) =>
  `INSERT INTO write_conflicts (reason) SELECT 'the organization lives here'
    WHERE NOT EXISTS (SELECT 1 FROM moves WHERE organization_id = ${id})`;

/** Also deliveries whose endpoint is gone. No index leads to these, but nobody waits for this. */
const allRowsOf = (table: Table, id: number) =>
  table.name === "webhook_deliveries" ? `organization_id = ${id}` : rowsOf(table, id);

export const deleteRows = (table: Table, id: number, limit: number) =>
  `DELETE FROM ${table.name} WHERE rowid IN (SELECT rowid FROM ${table.name} WHERE ${allRowsOf(table, id)} LIMIT ${limit})`;

export const hasRows = (table: Table, id: number) =>
  `SELECT EXISTS (SELECT 1 FROM ${table.name} WHERE ${allRowsOf(table, id)}) AS found`;

/** A range above all others. */
export const newRange = (shard: number) =>
  `INSERT INTO shards (shard, range) SELECT ${shard}, coalesce(max(range), 0) + 1 FROM shards WHERE true
    ON CONFLICT (shard) DO UPDATE SET range = excluded.range RETURNING range`;

/** The range that the directory has given a database last, perhaps without the database having heard of it. */
export const GIVEN_RANGE = (shard: number) => `SELECT range FROM shards WHERE shard = ${shard}`;

/** Ids that the database gives from now on are in the range. Two moves can meet: the higher one counts. */
export const takeRange = (shard: number, range: number) => [
  `INSERT INTO database_settings (name, value) VALUES ('range', ${range}), ('shard', ${shard})
    ON CONFLICT (name) DO UPDATE SET value = iif(name = 'range', max(value, excluded.value), excluded.value)`,
  ...rangeStatements(shard, range),
];
