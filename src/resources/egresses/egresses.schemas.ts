import * as z from "zod";
import { EGRESS_STATUSES } from "../../database/enums.ts";
import type { Row } from "../../database/queries.ts";
import { id, instant, key, longText, pathId, timestamp, timestampOrNull } from "../../http/wire.ts";
import { MAX_ERROR_LENGTH, MAX_STORAGE_KEY_LENGTH } from "../../limits.ts";
import { callParams } from "../calls/calls.schemas.ts";
import type { egressSchema, egressWithUrlSchema } from "./egresses.responses.ts";
import type { egressColumns } from "./egresses.sql.ts";

const encoder = new TextEncoder();

/** A URL folds `.` and `..` away, and could so leave the bucket. A file with a longer key could never be deleted. */
const storageKey = longText(MAX_STORAGE_KEY_LENGTH)
  .refine(
    (value) => value.split("/").every((segment) => !["", ".", ".."].includes(segment)),
    "must be a path without empty, . and .. segments",
  )
  .refine(
    (value) => encoder.encode(value).length <= MAX_STORAGE_KEY_LENGTH,
    `must have at most ${MAX_STORAGE_KEY_LENGTH} bytes in UTF-8`,
  );

/** A report in part: what is left out stays as reported before. `user_id` is who caused the change, not a field of the egress. */
export const reportEgressBody = z.object({
  egress: z
    .object({
      call_key: key,
      status: z.enum(EGRESS_STATUSES),
      is_stopped: z.boolean().nullable(),
      error: longText(MAX_ERROR_LENGTH).nullable(),
      ended_at: instant.nullable(),
      storage_key: storageKey.nullable(),
      user_id: id.nullable(),
    })
    .partial(),
});

export type EgressReport = z.output<typeof reportEgressBody>["egress"];

export const egressKeyParams = z.object({ egress_id: key });

export const egressParams = callParams.extend({ id: pathId });

export type Egress = Row<typeof egressColumns>;

export function toEgress(row: Egress): z.input<typeof egressSchema> {
  return {
    id: row.id,
    egress_id: row.egress_id,
    status: row.status,
    error: row.error,
    is_stopped: row.is_stopped,
    ended_at: timestampOrNull(row.ended_at),
    created_at: timestamp(row.created_at),
    updated_at: timestamp(row.updated_at),
  };
}

export function toEgressWithUrl(row: Egress & { url: string | null }): z.input<typeof egressWithUrlSchema> {
  return { ...toEgress(row), url: row.url };
}
