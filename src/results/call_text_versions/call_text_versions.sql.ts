import { desc, eq, getTableColumns, sql } from "drizzle-orm";
import { callIdOfPath, type ReachedCall } from "../../calls/calls/calls.sql.ts";
import { valuesFor } from "../../database/insert.ts";
import { builder, type Placeholders, preparedQuery, type Row } from "../../database/queries.ts";
import { isTextOf, type Kind, textIdOfPath } from "../call_texts/call_texts.sql.ts";
import { callTexts } from "../call_texts/call_texts.table.ts";
import { callTextVersions } from "./call_text_versions.table.ts";

type ReachedText = Placeholders<ReachedCall & Kind>;

const columns = getTableColumns(callTextVersions);

export type TextVersion = Row<typeof columns>;

export const versionsOfPath = preparedQuery((text: ReachedText) =>
  builder
    .select(columns)
    .from(callTextVersions)
    .where(eq(callTextVersions.text_id, textIdOfPath(text)))
    .orderBy(desc(callTextVersions.version)),
);

/** The reads that a correction is decided on. Every change of the text also changes one of these columns. */
export const stateOfText = preparedQuery((of: ReachedText) =>
  builder
    .select({
      id: callTexts.id,
      is_final: callTexts.is_final,
      corrections: callTexts.corrections,
      updated_at: callTexts.updated_at,
      has_summary: sql`${callTexts.summary} <> ''`.as("has_summary"),
    })
    .from(callTexts)
    .where(isTextOf(callIdOfPath(of), of.kind)),
);

export const insertVersion = preparedQuery((version: Placeholders<TextVersion>) =>
  builder.insert(callTextVersions).values(valuesFor(callTextVersions, version)),
);
