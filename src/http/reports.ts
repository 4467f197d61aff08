import * as z from "zod";
import type { ConsentReporter } from "../database/enums.ts";
import { reviseRow, type Timestamps } from "../database/merging.ts";
import { pastInstant } from "./wire.ts";

/** When a report was made, and by whom. */
export interface ReportOrigin {
  /** When its reporter knew what it says. Left out: when it came. */
  reported_at?: number | undefined;
  /** By default the platform. */
  reporter?: ConsentReporter;
}

/** The body of a report: what is reported, under its name, and when it was. */
export const reportBody = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.object({ ...shape, reported_at: pastInstant().optional() });

/** Reports repeat and overtake each other. One that was made before the newest one of its object is late. */
export const isLate = ({ reported_at }: ReportOrigin, known: { reported_at: number } | undefined): boolean =>
  known !== undefined && reported_at !== undefined && reported_at < known.reported_at;

/** When a report was made. By the reporter's clock: where that is ahead, this is in the future. */
export const timeOfReport = ({ reported_at }: ReportOrigin, now: number): number => reported_at ?? now;

/**
 * The row that a report leaves behind, as `reviseRow`. `reported_at` is when the platform's newest report of it was made. One
 * that says the same again, and that it was made later, moves that time alone. LiveKit's events have an order of their own
 * (livekit/room_events.merge.ts).
 */
export function reviseReported<Known extends Reported, Fields extends Partial<Known>>(
  known: Known | undefined,
  fields: Fields,
  report: ReportOrigin,
  now: number,
): Known | (Fields & Reported) {
  const newest = known?.reported_at ?? 0;
  const reported_at = report.reporter === "livekit" ? newest : Math.max(newest, timeOfReport(report, now));
  if (!known) return { ...fields, reported_at, created_at: now, updated_at: now };
  const onChange = { reported_at } as Partial<Known>;
  const next = reviseRow<Known, Partial<Known>>(known, fields, now, onChange) as Known;
  const isSaidAgain = next === known && report.reported_at !== undefined && reported_at > newest;
  return isSaidAgain ? { ...known, reported_at } : next;
}

type Reported = Timestamps & { reported_at: number };

/** Of a late report, what is not known. */
export const stillUnknown = <Report extends object>(known: Record<string, unknown>, report: Report) =>
  Object.fromEntries(
    Object.entries(report).filter(([name]) => (known[name] ?? null) === null),
  ) as Partial<Report>;
