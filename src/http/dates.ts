import type * as z from "zod";
import { DAY } from "../units.ts";

/** Dates are calendar days in UTC, `YYYY-MM-DD`. */

/** The fault of a `from`. */
export const FROM_AFTER_TO = "must not be after to";

/** A query for the days from `from` to `to`, both included. */
export const inOrder = <Query extends z.ZodType<{ from?: string | undefined; to?: string | undefined }>>(
  query: Query,
) =>
  query.refine(({ from, to }) => from === undefined || to === undefined || from <= to, {
    path: ["from"],
    error: FROM_AFTER_TO,
  });

/** The date of a time. */
export const dateOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** When the day after a date begins. */
export const endOfDate = (date: string): number => Date.parse(`${date}T00:00:00Z`) + DAY;
