import type * as z from "zod";
import { DAY } from "../units.ts";

/* Dates are UTC, `YYYY-MM-DD`. */

export const FROM_AFTER_TO = "must not be after to";

export const inOrder = <Query extends z.ZodType<{ from?: string | undefined; to?: string | undefined }>>(
  query: Query,
) =>
  query.refine(({ from, to }) => from === undefined || to === undefined || from <= to, {
    path: ["from"],
    error: FROM_AFTER_TO,
  });

export const dateOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

export const endOfDate = (date: string): number => Date.parse(`${date}T00:00:00Z`) + DAY;
