/** The SQL statements that move an organization: see move.ts. */
import { IS_MOVING } from "../database/causes.ts";
import type { ListName } from "../database/database.table.ts";
import { AUDIT_EVENTS, ROLES } from "../database/enums.ts";
import type { Table } from "./organization_rows.ts";
import { rangeStatements } from "./shard_statements.ts";
import type { Statement } from "./statement_runner.ts";

export interface Move {
  id: number;
  /** The number of the database that it moves to. */
  to: number;
}

export const isMoved = ({ name, columns }: Table): boolean =>
  name === "organizations" ||
  (name !== "moves" && columns.some((column) => column.name === "organization_id"));

/** Computed columns are not copied: SQLite computes them again. */
const storedColumns = ({ columns }: Table) => columns.filter(({ isStored }) => isStored);

const columnsOf = (table: Table) =>
  storedColumns(table)
    .map(({ name }) => `"${name}"`)
    .join(", ");

/** Tables without an index by organization. Their rows are found by an indexed column that names a parent. */
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

/**
 * A condition for the organization's rows in a table, which an index can find. It skips the deliveries of deleted endpoints,
 * which cron deletes.
 */
export function rowsOf({ name }: Pick<Table, "name">, id: number): string {
  if (name === "organizations") return `id = ${id}`;
  // Only slugs of the organization's rooms begin with its own slug and two hyphens.
  if (name === "waiting_room_slugs")
    return `organization_id = ${id} AND slug >= (SELECT slug || '--' FROM organizations WHERE id = ${id})
      AND slug < (SELECT slug || '-.' FROM organizations WHERE id = ${id})`;
  const [column, parent, partial] = PARENTS[name] ?? [];
  if (!column || !parent) return `organization_id = ${id}`;
  const ofParent = `${column} IN (SELECT id FROM ${parent} WHERE ${rowsOf({ name: parent }, id)})`;
  // One partial index for each side of the OR.
  return partial
    ? `(${ofParent} AND ${partial} IS NULL OR ${ofParent} AND ${partial} IS NOT NULL)`
    : ofParent;
}

/* Statements for the database that the organization leaves: */

/**
 * Marks the organization, so that background work skips it. Takes over the mark of an earlier run, unless that run has
 * already switched.
 */
export const mark = (id: number, since: number): Statement => ({
  sql: `INSERT INTO moves (organization_id, since) VALUES (${id}, ?)
    ON CONFLICT (organization_id) DO UPDATE SET since = excluded.since WHERE shard IS NULL`,
  params: [since],
});

export const unmark = (id: number) => `DELETE FROM moves WHERE organization_id = ${id}`;

/** Fails the batch while a mail or a webhook is being sent: its outcome must be written to the database that has its lease. */
export const requireNothingUnderWay = (id: number, now: number): Statement => ({
  sql: `INSERT INTO write_conflicts (reason) SELECT '${IS_UNDER_WAY}'
    WHERE EXISTS (SELECT 1 FROM invites WHERE organization_id = ${id} AND mail_leases > 0 AND next_mail_at > ?1)
      OR EXISTS (SELECT 1 FROM webhook_endpoints WHERE organization_id = ${id} AND lease_until > ?1)`,
  params: [now],
});

export const IS_UNDER_WAY = "a mail or a webhook is under way";

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

export const createTriggers = (id: number, tables: Table[]) =>
  eachTrigger(id, tables).map(
    ({ name, event, table, row }) => `CREATE TRIGGER ${name} BEFORE ${event} ON ${table.name}
WHEN ${row}.${table.name === "organizations" ? "id" : "organization_id"} = ${id}
BEGIN
  SELECT raise(ABORT, '${IS_MOVING}') FROM moves WHERE organization_id = ${id};
END`,
  );

export const dropTriggers = (id: number, tables: Table[]) =>
  eachTrigger(id, tables).map(({ name }) => `DROP TRIGGER IF EXISTS ${name}`);

export const nextRowids = (table: Table, id: number, after: number, limit: number) =>
  `SELECT rowid AS row FROM ${table.name} WHERE ${rowsOf(table, id)} AND rowid > ${after} ORDER BY rowid LIMIT ${limit}`;

/** A value for JSON: BLOBs in hex. `hex(NULL)` is an empty string, so null is handled separately. */
function asJsonValue({ name, type }: Table["columns"][number], from: string): string {
  const value = `${from}."${name}"`;
  return isBlob(type) ? `iif(${value} IS NULL, NULL, hex(${value}))` : value;
}

/** A row as a JSON array. */
const asJson = (table: Table, from: string) =>
  `json_array(${storedColumns(table).map((column) => asJsonValue(column, from))})`;

/** A row as a JSON object. */
const asJsonObject = (table: Table, from: string) =>
  `json_object(${storedColumns(table).map((column) => `'${column.name}', ${asJsonValue(column, from)}`)})`;

const isBlob = (type: string) => type.toUpperCase() === "BLOB";

export const readRows = (table: Table, rowids: number[]): Statement => ({
  sql: `SELECT ${asJson(table, "own")} AS data FROM ${table.name} AS own
    WHERE own.rowid IN (SELECT value FROM json_each(?)) ORDER BY own.rowid`,
  params: [JSON.stringify(rowids)],
});

/**
 * The switch: from then on, the organization lives in the other database. Returns no row if another run has taken over the move
 * or undone it.
 */
export const switchTo = ({ id, to, since }: Move & { since: number }, now: number): Statement => ({
  sql: `UPDATE moves SET shard = ${to}, since = ?2, client_ids =
      (SELECT json_group_array(client_id) FROM api_clients WHERE organization_id = ${id} AND revoked_at IS NULL)
    WHERE organization_id = ${id} AND since = ?1 AND shard IS NULL RETURNING 1 AS switched`,
  params: [since, now],
});

/** Fails the batch if another run has taken over the mark. */
export const requireOwnMark = (id: number, since: number): Statement => ({
  sql: `INSERT INTO write_conflicts (reason) SELECT 'Another run has taken over, or the organization has moved.'
    WHERE NOT EXISTS (SELECT 1 FROM moves WHERE organization_id = ${id} AND since = ? AND shard IS NULL)`,
  params: [since],
});

export const requireUnswitched = (id: number) =>
  `INSERT INTO write_conflicts (reason) SELECT 'the organization has moved'
    FROM moves WHERE organization_id = ${id} AND shard IS NOT NULL`;

/* Statements for the database that the organization moves to: */

/**
 * Keeps background work away from the arriving rows. An organization that lived here before already has a mark, which points its
 * clients to its present database. An organization that lives here gets no mark, even if this statement runs late.
 */
export const markAsArriving = (id: number, from: number) =>
  `INSERT INTO moves (organization_id, shard, since) SELECT ${id}, ${from}, 0
    WHERE NOT EXISTS (SELECT 1 FROM organizations WHERE id = ${id}) ON CONFLICT DO NOTHING`;

/** Keeps a mark with client ids: it still points those clients to the organization's database. */
export const unmarkArriving = (id: number) =>
  `DELETE FROM moves WHERE organization_id = ${id} AND client_ids = '[]'`;

/**
 * Returns the rows as they are stored, to compare them.
 *
 * @param rows a JSON array of rows
 */
export const insertRows = (table: Table, rows: string): Statement => ({
  sql: `INSERT INTO ${table.name} (${columnsOf(table)}) SELECT ${storedColumns(table)
    .map(({ type }, n) => (isBlob(type) ? `unhex(value ->> '$[${n}]')` : `value ->> '$[${n}]'`))
    .join(", ")} FROM json_each(?) ORDER BY key RETURNING ${asJson(table, table.name)} AS data`,
  params: [rows],
});

/** For a row that is too long for one parameter: each column gets its own. */
export const insertLongRow = (table: Table, row: string): Statement => ({
  sql: `INSERT INTO ${table.name} (${columnsOf(table)}) VALUES (${storedColumns(table).map(({ type }) => (isBlob(type) ? "unhex(?)" : "?"))})
    RETURNING ${asJson(table, table.name)} AS data`,
  params: JSON.parse(row),
});

/** Counts the organization's lists, since no triggers ran. Must agree with list_totals.rebuild.sql. */
export const countLists = (id: number) => [
  `INSERT INTO list_totals (list, owner_id, total)
    SELECT 'invites', organization_id, count(*) FROM invites WHERE organization_id = ${id} AND used_at IS NULL GROUP BY 2`,
  `INSERT INTO list_totals (list, owner_id, total)
    SELECT 'egress_audit_logs:' || event, egress_id, count(*) FROM egress_audit_logs
    WHERE ${rowsOf({ name: "egress_audit_logs" }, id)} GROUP BY 1, 2`,
  `INSERT INTO list_totals (list, owner_id, total)
    SELECT 'waiting_rooms', organization_id, count(*) FROM waiting_rooms WHERE organization_id = ${id} AND user_id IS NULL GROUP BY 2`,
  `INSERT INTO list_totals (list, owner_id, total)
    SELECT 'organization_users:' || value, organization_id, count(*) FROM organization_users, json_each(roles)
    WHERE organization_id = ${id} GROUP BY 1, 2`,
  ...["organization_users", "api_clients", "issuers"].map(
    (table) => `INSERT INTO list_totals (list, owner_id, total)
    SELECT '${table}', organization_id, count(*) FROM ${table} WHERE organization_id = ${id} GROUP BY 2`,
  ),
];

const LISTS_OF_ORGANIZATIONS: ListName[] = [
  "invites",
  "waiting_rooms",
  "api_clients",
  "issuers",
  "organization_users",
  ...ROLES.map((role): ListName => `organization_users:${role}`),
];

const LISTS_OF_EGRESSES = AUDIT_EVENTS.map((event): ListName => `egress_audit_logs:${event}`);

const anyOf = (lists: string[]) => `list IN (${lists.map((list) => `'${list}'`)})`;

export const deleteListTotals = (id: number) =>
  `DELETE FROM list_totals WHERE (${anyOf(LISTS_OF_ORGANIZATIONS)} AND owner_id = ${id})
    OR (${anyOf(LISTS_OF_EGRESSES)}
      AND owner_id IN (SELECT id FROM egresses WHERE organization_id = ${id}))`;

/** The number of the organization's rows in a table and a sum over each column, to compare both databases. */
export const digestOf = (table: Table, id: number) =>
  `SELECT json_array(count(*), ${storedColumns(table)
    .map(({ name, type }) =>
      type.toUpperCase() === "INTEGER"
        ? `sum("${name}" % 1000003)`
        : `sum(octet_length("${name}")), sum(unicode(substr("${name}", -1)))`,
    )
    .join(", ")}) AS digest FROM ${table.name} WHERE ${rowsOf(table, id)}`;

export const requireAbsence = (id: number) =>
  `INSERT INTO write_conflicts (reason) SELECT 'the organization lives here'
    WHERE NOT EXISTS (SELECT 1 FROM moves WHERE organization_id = ${id})`;

/** Includes the deliveries of deleted endpoints. Finding them needs a scan, but no request waits for it. */
const allRowsOf = (table: Table, id: number) =>
  table.name === "webhook_deliveries" ? `organization_id = ${id}` : rowsOf(table, id);

export const deleteRows = (table: Table, id: number, limit: number) =>
  `DELETE FROM ${table.name} WHERE rowid IN (SELECT rowid FROM ${table.name} WHERE ${allRowsOf(table, id)} LIMIT ${limit})`;

/** The seals of the organization's access log, or its entries that no seal covers. */
export const readUnsealed = (table: Table, id: number, after: number, limit: number) =>
  `SELECT own.id, ${asJsonObject(table, "own")} AS data FROM ${table.name} AS own WHERE own.organization_id = ${id}
    AND own.id > ${after} ${table.name === "access_logs" ? `AND own.id > ${lastSealed(id)}` : ""} ORDER BY own.id LIMIT ${limit}`;

const lastSealed = (id: number) =>
  `coalesce((SELECT max(last_id) FROM access_log_seals WHERE organization_id = ${id}), 0)`;

export const countRows = (table: Table, id: number) =>
  `SELECT count(*) AS rows FROM ${table.name} WHERE ${allRowsOf(table, id)}`;

export const hasRows = (table: Table, id: number) =>
  `SELECT EXISTS (SELECT 1 FROM ${table.name} WHERE ${allRowsOf(table, id)}) AS found`;

export const newRange = (shard: number) =>
  `INSERT INTO shards (shard, range) SELECT ${shard}, coalesce(max(range), 0) + 1 FROM shards WHERE true
    ON CONFLICT (shard) DO UPDATE SET range = excluded.range RETURNING range`;

/** The range that the directory last gave to the database. The database itself may not use it yet. */
export const GIVEN_RANGE = (shard: number) => `SELECT range FROM shards WHERE shard = ${shard}`;

/** Makes the database assign ids in the range from now on. If two moves meet, the higher range wins. */
export const takeRange = (shard: number, range: number) => [
  `INSERT INTO database_settings (name, value) VALUES ('range', ${range}), ('shard', ${shard})
    ON CONFLICT (name) DO UPDATE SET value = iif(name = 'range', max(value, excluded.value), excluded.value)`,
  ...rangeStatements(shard, range),
];
