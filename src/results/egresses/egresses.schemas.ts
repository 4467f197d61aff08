import * as z from "zod";
import { callParams } from "../../calls/calls/calls.schemas.ts";
import { EGRESS_STATUSES } from "../../database/enums.ts";
import type { Row } from "../../database/queries.ts";
import { inOrder } from "../../http/dates.ts";
import { afterQuery } from "../../http/pagination.ts";
import * as wire from "../../http/wire.ts";
import { MAX_ERROR_LENGTH, MAX_RECORDING_DURATION, MAX_STORAGE_KEY_LENGTH } from "../../limits.ts";
import { type ReportOrigin, reportBody } from "../../rooms/report.ts";
import { SECOND } from "../../units.ts";
import type { listedEgressColumns } from "./egresses.lists.ts";
import { NOT_A_PATH, STORAGE_KEY_TOO_LONG } from "./egresses.refusals.ts";
import type { egressSchema, egressWithUrlSchema, listedEgressSchema } from "./egresses.responses.ts";
import type { egressColumns } from "./egresses.sql.ts";

export const egressError = () => wire.multilineText(MAX_ERROR_LENGTH).nullable();

/** A path segment: not empty, `.` or `..`. Without a lookahead, which not all regex dialects support. */
const SEGMENT = "(\\.\\.[^/\\x00]+|\\.?[^./\\x00][^/\\x00]*)";

/** A URL parser would resolve `.` and `..`, which could leave the bucket. A file with a longer key could never be deleted. */
const storageKey = () =>
  wire
    .multilineText(MAX_STORAGE_KEY_LENGTH)
    .refine((value) => value.split("/").every((segment) => !["", ".", ".."].includes(segment)), NOT_A_PATH)
    .refine((value) => utf8Length(value) <= MAX_STORAGE_KEY_LENGTH, STORAGE_KEY_TOO_LONG)
    .meta({ override: { pattern: `^${SEGMENT}(/${SEGMENT})*$` } });

export const reportEgressBody = () =>
  reportBody({
    egress: z
      .object({
        call_key: wire.key(),
        status: z.enum(EGRESS_STATUSES),
        is_stopped: z.boolean().nullable(),
        error: egressError(),
        ended_at: wire.pastInstant().nullable(),
        started_at: wire.pastInstant().nullable(),
        /** In seconds; parsed into milliseconds. */
        duration: z
          .number()
          .nonnegative()
          .max(MAX_RECORDING_DURATION)
          .transform((value) => Math.round(value * SECOND))
          .nullable(),
        size: z.int().nonnegative().nullable(),
        storage_key: storageKey().nullable(),
        user_id: wire.id().nullable(),
      })
      .partial(),
  });

export type EgressReport = z.output<ReturnType<typeof reportEgressBody>>["egress"] & ReportOrigin;

const utf8Length = (value: string) => new TextEncoder().encode(value).length;

export const egressKeyParams = () => wire.organizationParams().extend({ egress_id: wire.key() });

export const egressParams = () => callParams().extend({ id: wire.pathId() });

export const egressesQuery = () =>
  inOrder(afterQuery().extend({ from: wire.day().optional(), to: wire.day().optional() }));

export type EgressesQuery = z.output<ReturnType<typeof egressesQuery>>;

export type Egress = Row<typeof egressColumns>;

export type ListedEgress = Row<typeof listedEgressColumns>;

export const toEgress = (row: Egress): z.input<typeof egressSchema> => ({
  id: row.id,
  egress_id: row.egress_id,
  status: row.status,
  error: row.error,
  is_stopped: row.is_stopped,
  ended_at: wire.toTimestampOrNull(row.ended_at),
  started_at: wire.toTimestampOrNull(row.started_at),
  duration: row.duration === null ? null : row.duration / SECOND,
  size: row.size,
  created_at: wire.toTimestamp(row.created_at),
  updated_at: wire.toTimestamp(row.updated_at),
});

export const toListedEgress = (row: ListedEgress): z.input<typeof listedEgressSchema> => ({
  ...toEgress(row),
  call_id: row.listed_call_id,
  organization_user_id: row.organization_user_id,
});

export const toEgressWithUrl = (
  row: Egress & { url: string | null },
): z.input<typeof egressWithUrlSchema> => ({ ...toEgress(row), url: row.url });
