import type { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { MAX_STATEMENT_BYTES } from "../../src/dev/backup_statements.ts";
import { openComparison } from "../../src/dev/directory_comparison.ts";
import {
  COPIES,
  forRows,
  KEYS,
  LOCATIONS,
  type Page,
  rowsOf,
  updateOrganizations,
} from "../../src/dev/directory_statements.ts";
import { migratedDatabase } from "../../src/dev/migrations.ts";
import { OWN_RANGE, rangeStatement, rangeStatements, SHARDS } from "../../src/dev/shard_statements.ts";
import type { Rows } from "../../src/dev/wrangler.ts";
import { CLAIM_KEPT_FOR } from "../../src/limits.ts";

const NOW = Date.now();

const FIRST = 2 ** 32;

/** Three databases, of which the first has an organization in each. */
function databases() {
  const [directory, one, two] = [migratedDatabase(), migratedDatabase(), migratedDatabase()];
  const all = [directory, one, two];
  for (const [shard, database] of all.entries()) {
    if (shard > 0) {
      directory.exec(rangeStatement(shard));
      for (const statement of rangeStatements(shard, shard)) database.exec(statement);
    }
  }
  for (const [shard, database] of all.entries())
    for (const holder of new Set([directory, database])) {
      insert(holder, "organizations", anOrganization(shard + 1, shard));
      insert(holder, "users", {
        id: shard + 10,
        email: `ada@${shard}.example`,
        created_at: 1,
        updated_at: 1,
      });
    }
  directory.exec("delete from organization_outbox");
  return { directory, one, two, all };
}

const anOrganization = (id: number, shard: number) => ({
  ...{ id, shard, name: `Clinic ${id}`, slug: `clinic-${id}` },
  ...{ created_at: 1, updated_at: 1 },
});

function insert(database: DatabaseSync, table: string, row: Record<string, string | number>) {
  const columns = Object.keys(row);
  database
    .prepare(`insert into ${table} (${columns}) values (${columns.map(() => "?")})`)
    .run(...Object.values(row));
}

/** A file, which is the key that needs no other row. */
function holdFile(database: DatabaseSync, storage_key: string, organization_id: number) {
  insert(database, "storage_keys", { storage_key, organization_id });
}

const claim = (directory: DatabaseSync, key: string, organization_id: number, claimed_at = 1) =>
  insert(directory, "locations", { kind: "file", key, organization_id, claimed_at });

/** Compares, and writes what has to change. Those that are left out are not bound. */
function reconcile({ directory, all }: ReturnType<typeof databases>, leftOut: number[] = []) {
  const comparison = openComparison(NOW);
  /** One by one, so that each table has several pages. */
  const rows = (database: DatabaseSync, page: Page) =>
    rowsOf((statement) => database.prepare(statement).all() as Rows, page, 1);
  for (const row of directory.prepare(SHARDS).all() as Rows) comparison.addKnown("range", row);
  for (const row of rows(directory, LOCATIONS)) comparison.addKnown("key", row);
  for (const [shard, database] of [...all.entries()].filter(([each]) => !leftOut.includes(each))) {
    const [range] = database.prepare(OWN_RANGE).all() as Rows;
    if (range) comparison.addHeld(shard, "range", range);
    for (const [what, page] of [...Object.entries(COPIES), ...Object.entries(KEYS)])
      for (const row of rows(database, page)) comparison.addHeld(shard, what, row);
  }
  const { statements, ...result } = comparison.result();
  for (const statement of statements) {
    expect(Buffer.byteLength(statement)).toBeLessThan(MAX_STATEMENT_BYTES);
    directory.exec(statement);
  }
  return result;
}

const RIGHT = { changes: [], conflicts: [], unread: [] };

const contents = (directory: DatabaseSync, ...tables: string[]) =>
  tables.map((table) => directory.prepare(`select * from ${table} order by 1, 2`).all());

it("A directory that is right stays as it is", () => {
  const service = databases();
  holdFile(service.one, "a.ogg", 2);
  claim(service.directory, "a.ogg", 2);
  expect(reconcile(service)).toEqual(RIGHT);
});

it("What the directory has lost comes back from what the databases hold", () => {
  const service = databases();
  const { directory, one, two } = service;
  holdFile(one, "it's 1.ogg", 2);
  holdFile(two, "2.ogg", 3);
  claim(directory, "it's 1.ogg", 2, NOW);
  claim(directory, "2.ogg", 3, NOW);
  const before = contents(directory, "shards", "organizations", "users", "locations");
  directory.exec("delete from locations; delete from organizations where shard > 0; delete from shards");
  directory.exec("delete from users where id in (11, 12)");
  // As if the cron had not yet run since the organization was made.
  directory.exec("insert into organization_outbox values (2, 1)");
  expect(reconcile(service)).toEqual({
    ...RIGHT,
    changes: ["ranges added: 2", "organizations added: 2", "users added: 2", "keys added: 2"],
  });
  expect(contents(directory, "shards", "organizations", "users", "locations")).toEqual(before);
  expect(reconcile(service)).toEqual(RIGHT);
});

it("Calls and egresses are known by their keys too, and a conflict names their ids", () => {
  const service = databases();
  const { directory, one, two } = service;
  for (const [database, organization] of [
    [directory, 1],
    [one, 2],
    [two, 3],
  ] as const) {
    database.exec("pragma foreign_keys = off");
    for (const key of ["shared", `own-${organization}`]) {
      insert(database, "calls", {
        ...{ organization_id: organization, key, organization_user_id: 1, waiting_room_id: 1 },
        ...{ started_at: 1, failed: 0, created_at: 1, updated_at: 1 },
      });
    }
  }
  expect(reconcile(service)).toEqual({
    ...RIGHT,
    changes: ["keys added: 2"],
    conflicts: [
      `The same key of a call: row 1 of organization 1 in shard 0, and row ${FIRST + 1} of organization 2 in shard 1, and row ${2 * FIRST + 1} of organization 3 in shard 2.`,
    ],
  });
  expect(directory.prepare("select kind, key, organization_id from locations order by key").all()).toEqual([
    { kind: "call", key: "own-2", organization_id: 2 },
    { kind: "call", key: "own-3", organization_id: 3 },
  ]);
});

it("An organization is as its database has it, and one that its database lacks is for the cron to copy", () => {
  const service = databases();
  const { directory, one, two } = service;
  one.exec("update organizations set name = 'Renamed', updated_at = 5 where id = 2");
  two.exec("delete from organizations where id = 3");
  expect(reconcile(service).changes).toEqual([
    "organizations corrected: 1",
    "organizations that their database lacks, for the cron to copy: 1",
  ]);
  expect(directory.prepare("select name, updated_at from organizations where id = 2").get()).toEqual({
    name: "Renamed",
    updated_at: 5,
  });
  expect(contents(directory, "organization_outbox")).toEqual([[{ organization_id: 3, written_at: 1 }]]);
});

it("A claim that stands for nothing goes, a young one stays, and a key is its holder's", () => {
  const service = databases();
  const { directory, two } = service;
  claim(directory, "abandoned.ogg", 2);
  claim(directory, "young.ogg", 2, NOW - CLAIM_KEPT_FOR / 2);
  claim(directory, "taken.ogg", 2);
  holdFile(two, "taken.ogg", 3);
  expect(reconcile(service)).toEqual({
    ...RIGHT,
    changes: ["keys with another owner now: 1", "keys removed, which nothing has: 1"],
  });
  expect(directory.prepare("select key, organization_id from locations order by key").all()).toEqual([
    { key: "taken.ogg", organization_id: 3 },
    { key: "young.ogg", organization_id: 2 },
  ]);
});

it("What two databases hold is named by ids, and not changed", () => {
  const service = databases();
  const { directory, one, two } = service;
  holdFile(directory, "secret-name.ogg", 1);
  holdFile(one, "secret-name.ogg", 2);
  holdFile(one, "both.ogg", 2);
  holdFile(two, "both.ogg", 3);
  insert(two, "users", { id: 99, email: "ada@1.example", created_at: 1, updated_at: 1 });
  insert(two, "organizations", anOrganization(2, 2));
  const before = contents(directory, "organizations", "users", "locations");
  const { changes, conflicts } = reconcile(service);
  expect(changes).toEqual([]);
  expect(conflicts).toEqual([
    "Organization 2 is in shard 2, and a row of it says shard 1.",
    "The users 99 in shard 2 and 11 in shard 0 must have the same id and the same name, or neither.",
    "The users 99 in shard 2 and 11 in shard 1 must have the same id and the same name, or neither.",
    expect.stringMatching(
      /^The same key of a file: row 1 of organization 1 in shard 0, and row 1 of organization 2 in shard 1\.$/,
    ),
    expect.stringMatching(
      /^The same key of a file: row 2 of organization 2 in shard 1, and row 1 of organization 3 in shard 2\.$/,
    ),
  ]);
  expect(conflicts.join()).not.toMatch(/secret-name|@/);
  expect(contents(directory, "organizations", "users", "locations")).toEqual(before);
});

it("An organization that was renamed after the copy from which its database was restored has its old name again", () => {
  const service = databases();
  const { directory } = service;
  directory.exec("update organizations set name = 'Renamed', updated_at = 5 where id = 2");
  directory.exec("delete from organization_outbox");
  expect(reconcile(service).changes).toEqual(["organizations corrected: 1"]);
  expect(directory.prepare("select name, updated_at from organizations where id = 2").get()).toEqual({
    name: "Clinic 2",
    updated_at: 1,
  });
  expect(reconcile(service)).toEqual(RIGHT);
});

it("An organization that is changed while the databases are compared stays as it is changed", () => {
  const { directory } = databases();
  const [row] = directory.prepare("select * from organizations where id = 2").all();
  const [statement = ""] = forRows([{ ...row, name: "As read", known_at: 1 }], updateOrganizations);
  directory.exec("update organizations set name = 'Newer', updated_at = 5 where id = 2");
  directory.exec(statement);
  expect(directory.prepare("select name from organizations where id = 2").get()).toEqual({ name: "Newer" });
});

it("Keys as long as they may be fit into the statements that D1 takes", () => {
  const service = databases();
  for (let n = 0; n < 150; n++) holdFile(service.one, `${n}-`.padEnd(1024, "'é"), 2);
  expect(reconcile(service).changes).toEqual(["keys added: 150"]);
  expect(reconcile(service)).toEqual(RIGHT);
});

describe("Nothing is changed, not even what is certain, because all that was not read would count as gone,", () => {
  /** Claims that the databases hold, and one that nothing holds. */
  function claimed() {
    const service = databases();
    holdFile(service.one, "one.ogg", 2);
    holdFile(service.two, "two.ogg", 3);
    claim(service.directory, "one.ogg", 2);
    claim(service.directory, "two.ogg", 3);
    claim(service.directory, "abandoned.ogg", 3);
    return service;
  }

  it("if the directory gave a database's range to another one", () => {
    const service = claimed();
    service.two.exec(`update database_settings set value = 1 where name = 'range'`);
    const before = contents(service.directory, "shards", "locations");
    expect(reconcile(service)).toEqual({
      ...RIGHT,
      unread: [
        "Shard 2 has the range 1, and the directory gave 1 to shard 1.",
        "Shard 2 has the range 1, and the directory gave 2 to shard 2.",
        "Shard 1 and shard 2 have the same range, 1.",
      ],
    });
    expect(contents(service.directory, "shards", "locations")).toEqual(before);
  });

  it("if two bindings lead to one database", () => {
    const service = claimed();
    service.all[1] = service.two;
    service.directory.exec("delete from shards");
    const before = contents(service.directory, "shards", "locations");
    expect(reconcile(service).unread).toEqual(["Shard 1 and shard 2 have the same range, 2."]);
    expect(contents(service.directory, "shards", "locations")).toEqual(before);
  });

  it.each([
    ["organizations", "delete from shards where shard = 2", "organizations there (2)"],
    ["a range", "update organizations set shard = 1 where shard = 2", "its range"],
  ])("if it knows %s of a database that is not bound", (_, loss, knows) => {
    const service = claimed();
    insert(service.directory, "organizations", anOrganization(9, 2));
    service.directory.exec(loss);
    const before = contents(service.directory, "shards", "locations");
    expect(reconcile(service, [2])).toEqual({
      ...RIGHT,
      unread: [`Shard 2 is not bound: the directory knows ${knows}.`],
    });
    expect(contents(service.directory, "shards", "locations")).toEqual(before);
  });
});

it("Ids of a database begin in its range, also in a table that a migration adds, and stay where they are", () => {
  const { one } = databases();
  one.exec("create table added (id integer primary key autoincrement)");
  const sequences = () =>
    one
      .prepare("select name, seq from sqlite_sequence where name in ('added', 'events') order by name")
      .all();
  one.exec(`update sqlite_sequence set seq = ${FIRST + 7} where name = 'events'`);
  for (const statement of rangeStatements(1, 1)) one.exec(statement);
  expect(sequences()).toEqual([
    { name: "added", seq: FIRST },
    { name: "events", seq: FIRST + 7 },
  ]);
});
