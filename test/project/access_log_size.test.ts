import { randomBytes } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { migratedDatabase } from "../../src/dev/migrations.ts";

const ENTRIES = 50_000;

/** In bytes, with the three indexes. At this size, ten reads of a visit's results add 1.6 kB to the database. */
const MOST_OF_AN_ENTRY = 160;

const sizeOf = (database: DatabaseSync) =>
  Number(
    database.prepare("select page_count * page_size as size from pragma_page_count, pragma_page_size").get()
      ?.size,
  );

it(`An entry of the access log takes at most ${MOST_OF_AN_ENTRY} bytes of the database`, () => {
  const database = migratedDatabase();
  database.exec(
    `with recursive counter (n) as (select 1 union all select n + 1 from counter where n < 50)
     insert into places (slug, shard) select 'clinic-' || n, 0 from counter;
     insert into organizations (id, name, slug, created_at, updated_at) select id, 'Clinic', slug, 0, 0 from places`,
  );
  const before = sizeOf(database);
  const insert = database.prepare(
    `insert into access_logs (organization_id, at, event, resource, resource_id, call_id, organization_user_id, user_id,
       api_client_id, acting_user, purpose, request_id)
     values (?, ?, 'read', ?, ?, ?, ?, ?, ?, ?, 'TREAT', ?)`,
  );
  const resources = ["transcript", "soap_note", "egress", "participant"];
  database.exec("begin");
  for (let n = 0; n < ENTRIES; n++) {
    // Calls are read in no order that an index has.
    const call = 200_000 + ((n * 104_729) % 90_000);
    const [organization, member, client] = [1 + (n % 50), 5_000 + (n % 700), 100 + (n % 60)];
    const [at, resource, person] = [
      1_795_000_000_000 + n * 37,
      resources[n % 4] ?? "",
      `staff-${1_000 + (n % 400)}`,
    ];
    insert.run(organization, at, resource, call, call, member, member, client, person, randomBytes(16));
  }
  database.exec("commit");
  const each = (sizeOf(database) - before) / ENTRIES;
  database.close();
  expect(each).toBeGreaterThan(100);
  expect(each).toBeLessThanOrEqual(MOST_OF_AN_ENTRY);
});
