import * as z from "zod";
import type { Row } from "../../database/queries.ts";
import { inOrder } from "../../http/dates.ts";
import { day } from "../../http/wire.ts";
import { lazily } from "../../memory.ts";
import type { usageSchema } from "./usage.responses.ts";
import type { usageColumns } from "./usage.sql.ts";

export const usageQuery = lazily(() => inOrder(z.object({ from: day().optional(), to: day().optional() })));

export type Usage = Row<typeof usageColumns>;

export const toUsage = (row: Usage): z.input<typeof usageSchema> => ({
  date: row.date,
  writes: row.writes,
  access_log_entries: row.access_log_entries,
  visits: row.visits,
});
