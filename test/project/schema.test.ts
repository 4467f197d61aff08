import { expect, it } from "vitest";
import { migratedDatabase } from "../../src/dev/migrations.ts";
import { writeVariedRows } from "./support/varied_rows.ts";

const database = migratedDatabase();

const rowsOf = <Row>(sql: string) => database.prepare(sql).all() as Row[];

/** Columns that end with `_id` and refer to no row of this database, or to one that may be gone. */
const WITHOUT_ROW: Record<string, string> = {
  "access_log_seals.first_id": "sealed entries are deleted",
  "access_log_seals.last_id": "sealed entries are deleted",
  "access_logs.resource_id": "an entry outlives what it is about",
  "access_logs.call_id": "an entry outlives what it is about",
  "access_logs.organization_user_id": "0 is the whole organization",
  "access_logs.user_id": "1 is the service itself",
  "access_logs.api_client_id": "an entry outlives its client",
  "access_logs.request_id": "not a row",
  "api_clients.client_id": "the public id, a text",
  "call_daily_metrics.organization_user_id": "0 is the whole organization",
  "call_daily_metrics.waiting_room_id": "0 is all rooms",
  "call_texts.first_line_id": "lines are in a document",
  "calls.visit_holder_id": "a copy that a trigger keeps",
  "egress_audit_logs.user_id": "1 is the service itself",
  "egresses.egress_id": "the recording backend's id",
  "egresses.changed_by_user_id": "1 is the service itself",
  "list_totals.owner_id": "the parent depends on the list",
  "moves.organization_id": "the organization lives in another database",
  "organization_days.api_client_id": "0 is the whole organization",
  "visit_daily_metrics.organization_user_id": "0 is the whole organization",
  "visit_daily_metrics.waiting_room_id": "0 is all rooms",
  "visits.last_participant_id": "a number within the visit",
  "webhook_deliveries.webhook_endpoint_id": "a delivery is deleted after its endpoint",
  "webhook_deliveries.event_id": "a delivery is deleted after its event",
};

/** Columns whose key does not name the organization. The statements that write them take both from the parent's row. */
const OF_ANY_ORGANIZATION = [
  "egress_audit_logs.egress_id",
  "egress_files.egress_id",
  "idempotency_keys.api_client_id",
];

const tables = rowsOf<{ name: string }>(
  "select name from sqlite_schema where type = 'table' and name not glob 'sqlite_*'",
).map(({ name }) => name);

/** The columns of each foreign key, each with the column that it refers to. */
const keysOf = (table: string) =>
  rowsOf<{ columns: string }>(
    `select group_concat("from" || ' ' || "to", ', ' order by seq) as columns
     from pragma_foreign_key_list('${table}') group by id`,
  ).map(({ columns }) => columns);

const columnsOf = (table: string) =>
  rowsOf<{ name: string }>(`select name from pragma_table_info('${table}')`).map(({ name }) => name);

it("Every column that names a row has a foreign key to it, within the organization", () => {
  const found = tables.flatMap((table) => {
    const columns = columnsOf(table).filter((column) => column.endsWith("_id"));
    const keys = keysOf(table);
    const isOwn = (column: string) =>
      columns.includes("organization_id") &&
      column !== "organization_id" &&
      !OF_ANY_ORGANIZATION.includes(`${table}.${column}`);
    const keyOf = (column: string) =>
      isOwn(column) ? `organization_id organization_id, ${column} id` : `${column} id`;
    return columns.filter((column) => !keys.includes(keyOf(column))).map((column) => `${table}.${column}`);
  });
  expect(found.sort()).toEqual(Object.keys(WITHOUT_ROW).sort());
});

/** What no two rows have in common. Indexes with the row's own id, which foreign keys need, are left out. */
const UNIQUE = [
  "access_log_seals (organization_id, date)",
  "access_log_seals (organization_id, last_id)",
  "api_clients (client_id)",
  "authorization_codes (code_digest)",
  "call_texts (call_id, kind)",
  "calls (organization_id, key)",
  "consents (participant_id, reporter, decision, case when said_at is null then decided_at else said_at end)",
  "egresses (organization_id, egress_id)",
  "invites (organization_id, email) where used_at is null",
  "issuers (organization_id, issuer, audience)",
  "legal_holds (call_id) where ended_at is null",
  "organization_users (organization_id, email) where roles <> '[]'",
  "organizations (slug)",
  "participants (organization_id, key) where erased_at is null",
  "people (visit_id, number) where visit_id is not null",
  "places (slug)",
  "shards (range)",
  "waiting_room_subs (waiting_room_id, datetime_end)",
  "waiting_rooms (organization_id, user_id) where user_id is not null",
  "waiting_rooms (slug) where retired_at is null",
];

it("No two rows have the same key, slug, email, secret, text, hold or seal", () => {
  const indexes = rowsOf<{ sql: string }>(
    "select sql from sqlite_schema where sql like 'CREATE UNIQUE INDEX%'",
  );
  const described = indexes
    .map(({ sql }) =>
      sql
        .replace(/^.* ON /, "")
        .replaceAll("`", "")
        .replaceAll(",", ", ")
        .replace(" WHERE ", " where "),
    )
    .map((each) => each.replace(/\s+/g, " "))
    .filter((each) => !each.includes("(organization_id, id)"));
  expect(described.sort()).toEqual(UNIQUE);
});

it.each([
  ["a member without an email", "update organization_users set email = null where roles <> '[]'"],
  ["a transcript without lines", "update call_texts set lines_digest = null where kind = 'transcript'"],
  ["a note without a text", "update call_texts set kind = 'soap_note', text = null"],
  ["a member with the id of the service itself", "update organization_users set id = 1 where id = 101"],
])("The database refuses %s", (_, statement) => {
  const filled = migratedDatabase();
  writeVariedRows(filled);
  expect(() => filled.exec(statement)).toThrow(/CHECK constraint failed/);
});
