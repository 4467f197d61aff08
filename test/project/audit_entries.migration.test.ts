import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { migrationFiles, readText } from "../../src/dev/migrations.ts";

const MIGRATION = "_audit_entries_name_users.sql";

const run = (database: DatabaseSync, file: string) =>
  database.exec(`BEGIN; ${readText(`drizzle/${file}`)}\n; COMMIT;`);

/** A database as it was before the migration, when entries could name nobody, and a function that migrates it. */
function databaseBefore() {
  const database = new DatabaseSync(":memory:");
  const files = migrationFiles();
  const own = files.findIndex((file) => file.endsWith(MIGRATION));
  for (const file of files.slice(0, own)) run(database, file);
  return { database, migrate: () => run(database, files[own] ?? "") };
}

const [OWNER, PAUL, READER] = [11, 12, 13];

/** Recordings of one call of OWNER: reports of the first sometimes named a user, those of the second never did. */
function writeOldRows(database: DatabaseSync) {
  database.exec(
    `insert into organizations (id, name, slug, created_at, updated_at) values (1, 'Clinic', 'clinic', 1, 1)`,
  );
  for (const id of [OWNER, PAUL, READER])
    database.exec(`
      insert into users (id, email, created_at, updated_at) values (${id}, '${id}@example.org', 1, 1);
      insert into organization_users (id, organization_id, user_id, display_name, roles, created_at, updated_at)
        values (${id + 10}, 1, ${id}, 'Somebody', '[]', 1, 1);`);
  database.exec(`
    insert into waiting_rooms (id, organization_id, name, slug, theme, is_active, created_at, updated_at)
      values (1, 1, 'Room', 'room', 'default', 1, 1, 1);
    insert into calls (id, organization_id, key, organization_user_id, waiting_room_id, started_at, failed, created_at,
      updated_at) values (1, 1, 'call', ${OWNER + 10}, 1, 1, 0, 1, 1);`);
  for (const id of [1, 2])
    database.exec(`
      insert into egresses (id, organization_id, call_id, egress_id, status, is_stopped, created_at, updated_at)
        values (${id}, 1, 1, 'egress-${id}', 'egress_starting', 0, 1, 1);
      insert into egress_audit_logs (organization_id, egress_id, event, user_id, created_at)
        values (1, ${id}, 'read', ${READER}, 2);`);
  const update = database.prepare("update egresses set error = ?, changed_by_user_id = ? where id = ?");
  for (const [error, user_id] of Object.entries({ One: null, Two: PAUL, Three: null }))
    for (const id of [1, 2]) update.run(error, id === 1 ? user_id : null, id);
}

it("Old audit entries that named nobody name somebody, and nothing else of them changes", () => {
  const { database, migrate } = databaseBefore();
  const all = (query: string) => database.prepare(query).all();
  writeOldRows(database);
  const untouched = () => [
    all("select id, organization_id, egress_id, event, object_changes, created_at from egress_audit_logs"),
    all("select * from list_totals order by list, owner_id"),
    all("select seq from sqlite_sequence where name = 'egress_audit_logs'"),
  ];
  const before = untouched();
  migrate();
  expect(untouched()).toEqual(before);
  const named = (egress: number) =>
    all(`select user_id from egress_audit_logs where egress_id = ${egress} order by id`).map(
      ({ user_id }) => user_id,
    );
  expect(named(1)).toEqual([OWNER, READER, OWNER, PAUL, PAUL]);
  expect(named(2)).toEqual([OWNER, READER, OWNER, OWNER, OWNER]);

  // Later reports that name nobody go on from there.
  database.exec("update egresses set error = 'Four'");
  expect([named(1).at(-1), named(2).at(-1)]).toEqual([PAUL, OWNER]);
  for (const change of ["update egress_audit_logs set user_id = 1", "delete from egress_audit_logs"])
    expect(() => database.exec(change)).toThrow(/never/);
  expect(all("pragma foreign_key_check")).toEqual([]);
});
