import { desc, eq, getTableColumns, sql, sum } from "drizzle-orm";
import { coalesce } from "../../database/expressions.ts";
import { builder, type Placeholders, preparedQuery, type Row } from "../../database/queries.ts";
import { type callTexts, callTextVersions, transcriptParts } from "../../database/schema.ts";
import { type Kind, textIdOfPath } from "../call_texts/call_texts.sql.ts";
import type { ReachedCall } from "../calls/calls.sql.ts";

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

/** How many characters the corrections of that text have replaced. */
export const replacedOfPath = preparedQuery((of: ReachedText) => {
  const { text_id, text, summary, lines } = callTextVersions;
  const length = sql`length(concat(${text}, ${summary}, ${lines}))`;
  return builder
    .select({ length: coalesce(sum(length).mapWith(Number), 0).as("length") })
    .from(callTextVersions)
    .where(eq(text_id, textIdOfPath(of)));
});

export const insertVersion = preparedQuery((version: Placeholders<TextVersion>) =>
  builder.insert(callTextVersions).values({
    organization_id: version.organization_id,
    text_id: version.text_id,
    version: version.version,
    text: version.text,
    summary: version.summary,
    lines: version.lines,
    reason: version.reason,
    user_id: version.user_id,
    created_at: version.created_at,
  }),
);

/** The parts of a transcript whose lines are written anew. */
export const deleteParts = preparedQuery(({ id }: Placeholders<{ id: number }>) =>
  builder.delete(transcriptParts).where(eq(transcriptParts.transcript_id, id)),
);

export type CallText = typeof callTexts.$inferSelect;
