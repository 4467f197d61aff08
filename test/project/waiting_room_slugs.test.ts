import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { migrationFiles, readText } from "../../src/dev/migrations.ts";

const MIGRATION = /waiting_room_slugs\.sql$/;

/** A database as it was before the migration. */
function olderDatabase() {
  const database = new DatabaseSync(":memory:");
  const files = migrationFiles();
  const own = files.findIndex((file) => MIGRATION.test(file));
  for (const file of files.slice(0, own)) database.exec(readText(`drizzle/${file}`));
  const select = (query: string) => database.prepare(query).all();
  return {
    run: (statements: string) => database.exec(statements),
    select,
    slugs: () =>
      Object.fromEntries(
        select("select slug, waiting_room_id from waiting_room_slugs order by slug").map((row) => [
          row.slug,
          row.waiting_room_id,
        ]),
      ),
    migrate: () => database.exec(`begin; ${readText(`drizzle/${files[own]}`)}; commit`),
  };
}

const FUTURE = Date.now() + 86_400_000;

/** Users 1 and 2 are admins, 3 is a provider; each has a personal room. */
function aClinic() {
  const database = olderDatabase();
  database.run(`
    insert into organizations values (1, 'Clinic', 'clinic', 0, 0);
    insert into users select value, value || '@example.org', 0, 0 from json_each('[1, 2, 3]');
    insert into organization_users values
      (1, 1, 1, 'Ada', '["organization_admin"]', 0, 0),
      (2, 1, 2, 'Ann', '["provider_assistant","organization_admin"]', 0, 0),
      (3, 1, 3, 'Paula', '["provider"]', 0, 0);
    insert into waiting_rooms values
      (1, 1, 1, 'Ada', 'clinic-ada', 'default', 1, null, 0, 0),
      (2, 1, 2, 'Ann', 'clinic-ann', 'default', 1, null, 0, 0),
      (3, 1, 3, 'Paula', 'clinic-paula', 'default', 1, null, 0, 0);
  `);
  return database;
}

it("Rooms keep the slugs that they had, and a slug that was given on stays with the room that has it", () => {
  const database = aClinic();
  database.run(`
    insert into waiting_rooms values
      (11, 1, null, 'Lab', 'clinic-lab', 'default', 1, 5, 0, 0),
      (12, 1, null, 'Lab', 'clinic-lab', 'default', 1, null, 0, 0),
      (13, 1, null, 'Lab', 'clinic-lab-2', 'default', 1, 5, 0, 0),
      (14, 1, null, 'Lab', 'clinic-lab-2', 'default', 1, 6, 0, 0);
  `);
  database.migrate();
  expect(database.slugs()).toEqual({
    "clinic-ada": 1,
    "clinic-ann": 2,
    "clinic-paula": 3,
    "clinic-lab": 12,
    "clinic-lab-2": 14,
  });
  expect(database.select("select slug from waiting_rooms where id = 12")).toEqual([{ slug: "clinic-lab" }]);
});

it("The personal rooms of people who are no providers are retired, unless they are in use", () => {
  const database = aClinic();
  database.run(`
    insert into participants (organization_id, key, waiting_room_id, display_name, role, created_at, updated_at)
      values (1, 'rita', 2, 'Rita', 'recipient', 0, 0);
    insert into waiting_room_subs values
      (1, 1, 3, 1, 0, ${FUTURE}, 0, 0), (2, 1, 3, 2, ${FUTURE}, ${FUTURE + 1}, 0, 0), (3, 1, 2, 3, 0, ${FUTURE}, 0, 0),
      (4, 1, 3, 1, 0, 1, 0, 0);
  `);
  database.migrate();
  expect(database.select("select id from waiting_rooms where retired_at is null")).toEqual([
    { id: 2 },
    { id: 3 },
  ]);
  expect(
    database.select(
      "select retired_at > 1.7e12 and updated_at = retired_at as is_now from waiting_rooms where id = 1",
    ),
  ).toEqual([{ is_now: 1 }]);
  expect(database.select("select id, user_id from waiting_room_subs order by id")).toEqual([
    { id: 1, user_id: null },
    { id: 2, user_id: 2 },
    { id: 3, user_id: 3 },
    { id: 4, user_id: 1 },
  ]);
  expect(database.select("select total from list_totals where list = 'waiting_rooms'")).toEqual([
    { total: 2 },
  ]);
});
