import { LINES_AT_ONCE } from "../../tuning.ts";
import { type AccessLog, toAccessLog } from "./access_logs.schemas.ts";

export const NDJSON = "application/x-ndjson";

/** Entries as lines, some at a time. */
export function* toNdjson(rows: AccessLog[]): Generator<string> {
  for (let n = 0; n < rows.length; n += LINES_AT_ONCE)
    yield rows
      .slice(n, n + LINES_AT_ONCE)
      .map((row) => `${JSON.stringify(toAccessLog(row))}\n`)
      .join("");
}
