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
  database.exec(
    `with recursive counter (n) as (select 0 union all select n + 1 from counter where n < ${ENTRIES - 1})
     insert into access_logs (organization_id, at, event, resource, resource_id, call_id, organization_user_id, user_id,
       api_client_id, acting_user, purpose, request_id)
     select 1 + n % 50, 1795000000000 + n * 37, 'read', iif(n % 2, 'transcript', 'participant'), call, call, 5000 + n % 700,
       5000 + n % 700, 100 + n % 60, 'staff-' || (1000 + n % 400), 'TREAT', randomblob(16)
     -- Calls are read in no order that an index has.
     from (select n, 200000 + n * 104729 % 90000 as call from counter)`,
  );
  const each = (sizeOf(database) - before) / ENTRIES;
  database.close();
  expect(each).toBeGreaterThan(100);
  expect(each).toBeLessThanOrEqual(MOST_OF_AN_ENTRY);
});
