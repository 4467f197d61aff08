import * as z from "zod";
import type { Row } from "../../database/queries.ts";
import { inOrder } from "../../http/dates.ts";
import { day } from "../../http/wire.ts";
import { MAX_DAILY_ACCESS_LOGS, MAX_DAILY_WRITES, MAX_WAITING_ROOMS } from "../../limits.ts";
import type { usageOfDatesSchema } from "./usage.responses.ts";
import type { usageColumns } from "./usage.sql.ts";

export const usageQuery = () => inOrder(z.object({ from: day().optional(), to: day().optional() }));

export interface Usage {
  days: Row<typeof usageColumns>[];
  waiting_rooms_count: number;
}

export const toUsageOfDates = ({ days, waiting_rooms_count }: Usage): z.input<typeof usageOfDatesSchema> => ({
  usage: days.map((day) => ({
    date: day.date,
    writes: day.writes,
    writes_limit: MAX_DAILY_WRITES,
    access_log_entries: day.access_log_entries,
    access_log_entries_limit: MAX_DAILY_ACCESS_LOGS,
    visits: day.visits,
  })),
  waiting_rooms_count,
  waiting_rooms_limit: MAX_WAITING_ROOMS,
});
