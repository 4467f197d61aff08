import type * as z from "zod";
import type { Row } from "../../database/queries.ts";
import { toTimestamp } from "../../http/wire.ts";
import type { accessLogSchema } from "./access_logs.responses.ts";
import type { accessLogColumns } from "./access_logs.sql.ts";

export type AccessLog = Row<typeof accessLogColumns>;

/** As lists show an entry, and as a sealed file has it: whoever compares the two finds the same fields in the same order. */
export function toAccessLog(row: AccessLog): z.input<typeof accessLogSchema> {
  return {
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
  };
}

/** @param hex the digits of a UUID */
const uuidOf = (hex: string): string => hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
