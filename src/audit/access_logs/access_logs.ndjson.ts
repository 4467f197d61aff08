import { inChunks } from "../../http/streams.ts";
import { type AccessLog, toAccessLog } from "./access_logs.schemas.ts";

export const NDJSON = "application/x-ndjson";

export const toNdjson = (rows: AccessLog[]): Generator<string> => inChunks(linesOfEntries(rows));

function* linesOfEntries(rows: AccessLog[]) {
  for (const row of rows) yield `${JSON.stringify(toAccessLog(row))}\n`;
}
