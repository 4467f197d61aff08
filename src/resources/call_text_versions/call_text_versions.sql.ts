import { desc, eq, getTableColumns, sql } from "drizzle-orm";
import { valuesFor } from "../../database/insert.ts";
import { builder, type Placeholders, preparedQuery, type Row } from "../../database/queries.ts";
import { callTexts, callTextVersions } from "../../database/schema.ts";
import { isTextOf, type Kind, textIdOfPath } from "../call_texts/call_texts.sql.ts";
import { callIdOfPath, type ReachedCall } from "../calls/calls.sql.ts";

type ReachedText = Placeholders<ReachedCall & Kind>;

const columns = getTableColumns(callTextVersions);

export type TextVersion = Row<typeof columns>;

/** The versions of the text of the call in the path, newest first. */
export const versionsOfPath = preparedQuery((text: ReachedText) =>
  builder
    .select(columns)
    .from(callTextVersions)
    .where(eq(callTextVersions.text_id, textIdOfPath(text)))
    .orderBy(desc(callTextVersions.version)),
);

/** What a correction rests on: a text that changes, by a report or a correction, changes these too. */
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
