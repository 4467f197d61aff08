import * as z from "zod";
import type { Reporter } from "../database/enums.ts";
import { reviseRow, type Timestamps } from "../database/merging.ts";
import { pastInstant } from "../http/wire.ts";

export interface ReportOrigin {
  /** When the reporter knew what the report says. By default, when the report arrived. */
  reported_at?: number | undefined;
  /** By default, the platform. */
  reporter?: Reporter;
}

export const reportBody = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.object({ ...shape, reported_at: pastInstant().optional() });

/** Reports repeat and overtake each other. A report is late if it was made before the newest one about the same object. */
export const isLate = ({ reported_at }: ReportOrigin, known: { reported_at: number } | undefined): boolean =>
  known !== undefined && reported_at !== undefined && reported_at < known.reported_at;

/** By the reporter's clock, so it can be in the future. */
export const timeOfReport = ({ reported_at }: ReportOrigin, now: number): number => reported_at ?? now;

/**
 * The row after a report, as with `reviseRow`. `reported_at` is when the platform's newest report about it was made. A
 * newer report that says the same changes only that time. An observer's reports do not count for it.
 */
export function reviseReported<Known extends Reported, Fields extends Partial<Known>>(
  known: Known | undefined,
  fields: Fields,
  report: ReportOrigin,
  now: number,
): Known | (Fields & Reported) {
  const newest = known?.reported_at ?? 0;
  const reported_at = report.reporter === "observer" ? newest : Math.max(newest, timeOfReport(report, now));
  if (!known) return { ...fields, reported_at, created_at: now, updated_at: now };
  const onChange = { reported_at } as Partial<Known>;
  const next = reviseRow<Known, Partial<Known>>(known, fields, now, onChange) as Known;
  const isSaidAgain = next === known && report.reported_at !== undefined && reported_at > newest;
  return isSaidAgain ? { ...known, reported_at } : next;
}

type Reported = Timestamps & { reported_at: number };

/** The part of a late report that fills in unknown fields. */
export const stillUnknown = <Report extends object>(known: Record<string, unknown>, report: Report) =>
  Object.fromEntries(
    Object.entries(report).filter(([name]) => (known[name] ?? null) === null),
  ) as Partial<Report>;
