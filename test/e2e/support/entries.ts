import type { DatabaseSync } from "node:sqlite";
import { DAY } from "../../../src/units.ts";
import { openDatabase } from "./local_databases.ts";

/** The database file of a server that runs. */
export function databaseIn(folder: string): DatabaseSync {
  const database = openDatabase(folder);
  database.exec("pragma busy_timeout = 10000");
  return database;
}

/** Of its own making, which is of today: what comes after an entry of today is sealed after it. */
export const deleteEntries = (database: DatabaseSync, organization_id: number) =>
  database.prepare("delete from access_logs where organization_id = ?").run(organization_id);

/** Adds entries such as a busy clinic has: reads of texts, for many people, all through a day. No client did it: theirs are bounded. */
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
