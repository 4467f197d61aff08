import { LINES_AT_ONCE } from "../../tuning.ts";
import { type AccessLog, toAccessLog } from "./access_logs.schemas.ts";

export const NDJSON = "application/x-ndjson";

const encoder = new TextEncoder();

/** An entry as a line. */
export const toLine = (row: AccessLog): string => `${JSON.stringify(toAccessLog(row))}\n`;

/** Entries as lines, made while the caller takes them: as one text they would take as much memory again as the rows. */
export function toNdjson(rows: AccessLog[]): ReadableStream<Uint8Array> {
  let next = 0;
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      const some = rows.slice(next, next + LINES_AT_ONCE);
      next += some.length;
      if (some.length === 0) controller.close();
      else controller.enqueue(encoder.encode(some.map(toLine).join("")));
    },
  });
}
