import { integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { idColumn } from "../../database/columns.ts";
import { organizationId } from "../../organization/organizations/organizations.table.ts";

/**
 * The sealed days of the access log. A file has the day's entries, and the seal is a signature over them (see
 * audit/access_log_seals). Each day has one seal, for the entries from `first_id` to `last_id`: all entries since the previous
 * seal. Seals are never changed or deleted.
 *
 * All digests are in hex. `sha256` is the digest of the file's lines, and `jws_sha256` the digest of `jws`. `previous` is the
 * `jws_sha256` of the previous seal.
 */
export const accessLogSeals = sqliteTable(
  "access_log_seals",
  {
    id: idColumn(),
    organization_id: organizationId(),
    date: text().notNull(),
    count: integer().notNull(),
    first_id: integer().notNull(),
    last_id: integer().notNull(),
    sha256: text().notNull(),
    previous: text(),
    jws: text().notNull(),
    jws_sha256: text().notNull(),
    created_at: integer().notNull(),
  },
  (t) => [
    uniqueIndex("access_log_seals_by_date").on(t.organization_id, t.date),
    uniqueIndex("access_log_seals_by_entry").on(t.organization_id, t.last_id),
  ],
);
