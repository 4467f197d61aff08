import { desc, eq, getTableColumns } from "drizzle-orm";
import type { ReachedCall } from "../../calls/calls/calls.sql.ts";
import { valuesFor } from "../../database/insert.ts";
import { builder, type Placeholders, preparedQuery, type Row } from "../../database/queries.ts";
import { type Kind, textIdOfPath } from "../call_texts/call_texts.sql.ts";
import { callTextVersions } from "./call_text_versions.table.ts";

const columns = getTableColumns(callTextVersions);

export type TextVersion = Row<typeof columns>;

export const versionsOfPath = preparedQuery((text: Placeholders<ReachedCall & Kind>) =>
  builder
    .select(columns)
    .from(callTextVersions)
    .where(eq(callTextVersions.text_id, textIdOfPath(text)))
    .orderBy(desc(callTextVersions.version)),
);

export const insertVersion = preparedQuery((version: Placeholders<TextVersion>) =>
  builder.insert(callTextVersions).values(valuesFor(callTextVersions, version)),
);
