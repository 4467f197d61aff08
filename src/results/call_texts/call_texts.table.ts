import { sql } from "drizzle-orm";
import { blob, check, index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import { calls } from "../../calls/calls/calls.table.ts";
import { idColumn, retention, timestamps, withinOrganization } from "../../database/columns.ts";
import type { CallTextKind } from "../../database/enums.ts";
import { organizationId } from "../../organization/organizations/organizations.table.ts";

/**
 * The texts of calls: at most one transcript and one SOAP note each. A note has its contents in `text`, a transcript in `summary`
 * and `lines`.
 *
 * - `summary`: empty if it was cleared, and null if none was ever reported.
 * - `lines`: compressed (see transcripts.document.ts); null if none were ever reported.
 * - `lines_digest`: a keyed digest of the reported lines, which contain the speakers' keys. It distinguishes a repeated report from a
 *   corrected one.
 * - `first_line_id`: the first of the ids that the new lines of the last report got; null if no report had any.
 * - `spoken_until`: the end of the last line, in milliseconds from the start of the call; null if there is no line.
 * - `corrections`: the number of corrections by the organization since the text is final. Each has a row in `callTextVersions`.
 * - `replaced_size`: the size of these rows' texts, in bytes of UTF-8.
 */
export const callTexts = sqliteTable(
  "call_texts",
  {
    id: idColumn(),
    organization_id: organizationId(),
    call_id: integer().notNull(),
    kind: text().$type<CallTextKind>().notNull(),
    text: text(),
    summary: text(),
    is_final: integer({ mode: "boolean" }).notNull(),
    lines_digest: text(),
    first_line_id: integer(),
    spoken_until: integer(),
    corrections: integer().notNull().default(0),
    replaced_size: integer().notNull().default(0),
    reported_at: integer().notNull().default(0),
    ...retention,
    ...timestamps,
    // The last column, so that SQLite reads the others without it.
    lines: blob(),
  },
  (t) => [
    uniqueIndex("call_texts_by_organization").on(t.organization_id, t.id),
    uniqueIndex("call_texts_of_call").on(t.call_id, t.kind),
    index("call_texts_retained").on(t.organization_id, t.call_ended_at).where(sql`not is_held`),
    withinOrganization(t, t.call_id, calls),
    check("call_texts_complete", sql`iif(kind = 'soap_note', text, lines_digest) is not null`),
  ],
);
