import type * as z from "zod";
import type { Context } from "../../context.ts";
import { runBatch } from "../../database/queries.ts";
import { dateOf } from "../../http/dates.ts";
import { DEFAULT_METRICS_DAYS, MAX_METRICS_DAYS } from "../../limits.ts";
import { DAY } from "../../units.ts";
import { organizationNotFound } from "../organizations/organizations.refusals.ts";
import { usageRangeTooLong } from "./usage.refusals.ts";
import type { Usage, usageQuery } from "./usage.schemas.ts";
import { countWaitingRooms, usageOfDates } from "./usage.sql.ts";

export async function listUsage(
  { db, now }: Context,
  organization_id: number,
  { from, to = dateOf(now) }: z.output<ReturnType<typeof usageQuery>>,
): Promise<Usage> {
  const start = from ?? dateOf(Date.parse(to) - (DEFAULT_METRICS_DAYS - 1) * DAY);
  if (Date.parse(to) - Date.parse(start) >= MAX_METRICS_DAYS * DAY) throw usageRangeTooLong();
  const [[rooms], days] = await runBatch(db, [
    countWaitingRooms({ organization_id }),
    usageOfDates({ organization_id, from: start, to }),
  ]);
  if (!rooms) throw organizationNotFound();
  return { ...rooms, days };
}
