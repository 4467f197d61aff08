import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { migrationFiles, readText } from "../../src/dev/migrations.ts";

const OWN = /_(transcript_parts|transcripts)\.sql$/;

const run = (database: DatabaseSync, file: string) =>
  database.exec(`BEGIN; ${readText(`drizzle/${file}`)}\n; COMMIT;`);

/** A database as it was before transcripts were stored in parts, and a function that migrates it. */
function databaseBefore() {
  const database = new DatabaseSync(":memory:");
  const files = migrationFiles();
  const own = files.findIndex((file) => OWN.test(file));
  for (const file of files.slice(0, own)) run(database, file);
  const migrate = () => {
    for (const file of files.filter((each) => OWN.test(each))) run(database, file);
  };
  return { database, migrate, all: (query: string) => database.prepare(query).all() };
}

/** A transcript of two lines, after one with a higher id that was replaced. */
const OLD_ROWS = `
  insert into organizations (id, name, slug, created_at, updated_at) values (1, 'Clinic', 'clinic', 1, 1);
  insert into users (id, email, created_at, updated_at) values (11, 'paula@example.org', 1, 1);
  insert into organization_users (id, organization_id, user_id, display_name, roles, created_at, updated_at)
    values (21, 1, 11, 'Paula Provider', '["provider"]', 1, 1);
  insert into waiting_rooms (id, organization_id, name, slug, theme, is_active, created_at, updated_at)
    values (31, 1, 'Room', 'clinic--room', 'default', 1, 1, 1);
  insert into calls (id, organization_id, key, organization_user_id, waiting_room_id, started_at, ended_at, failed,
    created_at, updated_at) values (41, 1, 'call', 21, 31, 1, 2, 0, 1, 1);
  insert into participants (id, organization_id, key, waiting_room_id, call_id, display_name, role, created_at,
    updated_at) values (51, 1, 'paula', 31, 41, 'Paula Provider', 'provider', 1, 1);
  insert into transcripts (id, organization_id, call_id, is_final, lines_digest, created_at, updated_at)
    values (61, 1, 41, 0, 'digest', 1, 1);
  insert into transcript_lines (id, organization_id, transcript_id, participant_id, text, start_time, end_time)
    values (71, 1, 61, 51, 'one', 0, 1.5), (72, 1, 61, 51, 'two', 2, 3), (99, 1, 61, 51, 'gone', 4, 5);
  delete from transcript_lines where id = 99;`;

const SEQUENCE = "select seq from sqlite_sequence where name = 'transcript_lines'";

describe("Transcripts that were stored line by line", () => {
  it("keep their lines and the highest id so far, until the cron moves them", () => {
    const { database, migrate, all } = databaseBefore();
    database.exec(OLD_ROWS);
    const stored = () => [all("select * from transcript_lines"), all(SEQUENCE)];
    const before = stored();
    migrate();
    expect(stored()).toEqual(before);
    expect(all(SEQUENCE)).toEqual([{ seq: 99 }]);
    expect(all("select lines_digest, first_line_id from transcripts")).toEqual([
      { lines_digest: "digest", first_line_id: null },
    ]);
    expect(all("pragma foreign_key_check")).toEqual([]);
  });

  it("lose them when a report brings others, and when they are deleted", () => {
    const { database, migrate, all } = databaseBefore();
    database.exec(OLD_ROWS);
    migrate();
    const left = () => [
      all("select id from transcript_lines").length,
      all("select part from transcript_parts").length,
    ];
    const addPart = () => database.exec("insert into transcript_parts values (1, 41, 0, x'00')");
    addPart();
    database.exec("update transcripts set lines_digest = 'digest', summary = 'A talk.'");
    expect(left()).toEqual([2, 1]);
    database.exec("update transcripts set lines_digest = 'other'");
    expect(left()).toEqual([0, 0]);
    addPart();
    database.exec(`insert into transcript_lines (organization_id, transcript_id, participant_id, text, start_time, end_time)
      values (1, 61, 51, 'three', 0, 1)`);
    expect(left()).toEqual([1, 1]);
    database.exec("delete from transcripts where call_id = 41");
    expect(left()).toEqual([0, 0]);
  });
});

it("A database that never had a line begins to count them", () => {
  const { migrate, all } = databaseBefore();
  migrate();
  expect(all(SEQUENCE)).toEqual([{ seq: 0 }]);
});
