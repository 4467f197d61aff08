import * as z from "zod";
import { ACCESS_EVENTS, ACCESS_RESOURCES } from "../../database/enums.ts";
import type { Row } from "../../database/queries.ts";
import { inOrder } from "../../http/dates.ts";
import { afterQuery } from "../../http/pagination.ts";
import { inChunks } from "../../http/streams.ts";
import { day, externalReference, PRINTABLE_ASCII, pathId, reference, toTimestamp } from "../../http/wire.ts";
import { MAX_ACTING_USER_LENGTH } from "../../limits.ts";
import type { accessLogSchema } from "./access_logs.responses.ts";
import type { accessLogColumns } from "./access_logs.sql.ts";

export const accessLogsQuery = () =>
  inOrder(
    z.object({
      call_id: pathId().optional(),
      acting_user: reference(MAX_ACTING_USER_LENGTH)
        .min(1)
        .regex(PRINTABLE_ASCII, "must be printable ASCII characters")
        .optional(),
      user_id: pathId().optional(),
      resource: z.enum(ACCESS_RESOURCES).optional(),
      event: z.enum(ACCESS_EVENTS).optional(),
      external_reference: externalReference().optional(),
      from: day().optional(),
      to: day().optional(),
      ...afterQuery().shape,
    }),
  );

export type AccessLogsQuery = z.output<ReturnType<typeof accessLogsQuery>>;

export type AccessLog = Row<typeof accessLogColumns>;

/** Lists and sealed files have the same fields in the same order, so that the two can be compared. */
export const toAccessLog = (row: AccessLog): z.input<typeof accessLogSchema> => ({
  id: row.id,
  at: toTimestamp(row.at),
  event: row.event,
  resource: row.resource,
  resource_id: row.resource_id,
  call_id: row.call_id,
  organization_user_id: row.organization_user_id,
  user_id: row.user_id,
  api_client_id: row.api_client_id,
  acting_user: row.acting_user,
  purpose: row.purpose,
  request_id: row.request_id && uuidOf(row.request_id),
  shown: row.shown,
  from: row.from_date,
  to: row.to_date,
});

const uuidOf = (hex: string): string => hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");

export const NDJSON = "application/x-ndjson";

export const toNdjson = (rows: AccessLog[]): Generator<string> => inChunks(linesOfEntries(rows));

function* linesOfEntries(rows: AccessLog[]) {
  for (const row of rows) yield `${JSON.stringify(toAccessLog(row))}\n`;
}
