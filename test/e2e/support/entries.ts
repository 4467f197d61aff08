import type { DatabaseSync } from "node:sqlite";
import { DAY } from "../../../src/units.ts";
import { openDatabase } from "./local_databases.ts";

export function databaseIn(folder: string): DatabaseSync {
  const database = openDatabase(folder);
  database.exec("pragma busy_timeout = 10000");
  return database;
}

/** Deletes the organization's own entries. They are from today, and older entries added after them would be sealed after today. */
export const deleteEntries = (database: DatabaseSync, organization_id: number) =>
  database.prepare("delete from access_logs where organization_id = ?").run(organization_id);

/**
 * Adds entries like a busy clinic's: reads of texts by many people throughout a day. They have no client, because a
 * client's writes are limited.
 */
export function addEntries(database: DatabaseSync, organization_id: number, date: string, count: number) {
  database
    .prepare(
      `with recursive counter (n) as (select 0 union all select n + 1 from counter where n + 1 < ?3)
       insert into access_logs (organization_id, at, event, resource, resource_id, call_id, organization_user_id, user_id,
         api_client_id, acting_user, purpose, request_id)
       select ?1, ?2 + n * ?4 / ?3, 'read', iif(n % 3, 'transcript', 'soap_note'), 100000 + n / 7 * 3 % 9973,
         100000 + n / 7 * 3 % 9973, 10 + n % 41, 33, null, 'staff-' || (200 + abs(random()) % 300), 'TREAT', randomblob(16)
       from counter`,
    )
    .run(organization_id, Date.parse(date), count, DAY);
}
