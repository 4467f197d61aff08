import * as z from "zod";
import { EGRESS_STATUSES } from "../../database/enums.ts";
import type { Row } from "../../database/queries.ts";
import { type ReportOrigin, reportBody } from "../../http/reports.ts";
import {
  id,
  key,
  multilineText,
  organizationParams,
  pastInstant,
  pathId,
  toTimestamp,
  toTimestampOrNull,
} from "../../http/wire.ts";
import { MAX_STORAGE_KEY_LENGTH } from "../../limits.ts";
import { lazily } from "../../memory.ts";
import { callParams } from "../calls/calls.schemas.ts";
import { egressError } from "./egresses.fields.ts";
import { NOT_A_PATH, STORAGE_KEY_TOO_LONG } from "./egresses.refusals.ts";
import type { egressSchema, egressWithUrlSchema } from "./egresses.responses.ts";
import type { egressColumns } from "./egresses.sql.ts";

const encoder = new TextEncoder();

/** Part of a path: not empty, `.` or `..`. No lookahead, which not every language of patterns has. */
const SEGMENT = "(\\.\\.[^/\\x00]+|\\.?[^./\\x00][^/\\x00]*)";

/** A URL folds `.` and `..` away, and could so leave the bucket. A file with a longer key could never be deleted. */
const storageKey = lazily(() =>
  multilineText(MAX_STORAGE_KEY_LENGTH)
    .refine((value) => value.split("/").every((segment) => !["", ".", ".."].includes(segment)), NOT_A_PATH)
    .refine((value) => encoder.encode(value).length <= MAX_STORAGE_KEY_LENGTH, STORAGE_KEY_TOO_LONG)
    .meta({ override: { pattern: `^${SEGMENT}(/${SEGMENT})*$` } }),
);

/** A report in part: what is left out stays as reported before. */
export const reportEgressBody = lazily(() =>
  reportBody({
    egress: z
      .object({
        call_key: key(),
        status: z.enum(EGRESS_STATUSES),
        is_stopped: z.boolean().nullable(),
        error: egressError(),
        ended_at: pastInstant().nullable(),
        storage_key: storageKey().nullable(),
        user_id: id().nullable(),
      })
      .partial(),
  }),
);

export type EgressReport = z.output<ReturnType<typeof reportEgressBody>>["egress"] & ReportOrigin;

export const egressKeyParams = lazily(() => organizationParams().extend({ egress_id: key() }));

export const egressParams = lazily(() => callParams().extend({ id: pathId() }));

export type Egress = Row<typeof egressColumns>;

export function toEgress(row: Egress): z.input<typeof egressSchema> {
  return {
    id: row.id,
    egress_id: row.egress_id,
    status: row.status,
    error: row.error,
    is_stopped: row.is_stopped,
    ended_at: toTimestampOrNull(row.ended_at),
    created_at: toTimestamp(row.created_at),
    updated_at: toTimestamp(row.updated_at),
  };
}

export function toEgressWithUrl(row: Egress & { url: string | null }): z.input<typeof egressWithUrlSchema> {
  return { ...toEgress(row), url: row.url };
}
