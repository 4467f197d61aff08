import * as z from "zod";
import { organizationSlugOf } from "../database/slug.ts";
import { key, upToFirstFault } from "../http/wire.ts";
import { MAX_ERROR_LENGTH } from "../limits.ts";
import { lazily } from "../memory.ts";
import { isFileOf } from "../resources/egresses/egresses.merge.ts";
import { type EgressReport, reportEgressBody } from "../resources/egresses/egresses.schemas.ts";
import { MAX_EGRESS_FILES } from "../tuning.ts";
import { beginOfCall, type Room } from "./rooms.sql.ts";

/** LiveKit's events name fields in camelCase, its API (Twirp) in snake_case. */
const inCamelCase = (message: unknown) =>
  typeof message === "object" && message !== null
    ? Object.fromEntries(Object.entries(message).map(([name, value]) => [toCamelCase(name), value]))
    : message;

const toCamelCase = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

const text = lazily(() => z.string().catch(""));

/**
 * Becomes milliseconds since the epoch. LiveKit writes nanoseconds as text, because they exceed 2^53; 0 is "not yet", and
 * what is in the future counts as now.
 */
const nanoseconds = lazily(() =>
  z
    .string()
    .regex(/^\d{1,19}$/)
    .catch("0")
    .transform((digits) => Math.min(Number(BigInt(digits) / 1_000_000n), Date.now())),
);

const file = lazily(() => z.object({ filename: text(), location: text() }));

/**
 * LiveKit's EgressInfo as protojson writes it: a field with its default value may be left out, so without a status it
 * is starting. Only what the service uses is read. A field that makes no sense counts as left out, so that whatever
 * LiveKit adds or changes, the rest can still be reported.
 */
export const egressInfo = lazily(() =>
  z.preprocess(
    inCamelCase,
    z.object({
      egressId: key(),
      roomId: text(),
      roomName: text(),
      status: z.string().default("EGRESS_STARTING").catch("unknown"),
      error: text(),
      startedAt: nanoseconds(),
      endedAt: nanoseconds(),
      fileResults: z.array(file()).max(MAX_EGRESS_FILES).catch([]),
      /** What older versions have instead. */
      file: file().nullish().catch(null),
    }),
  ),
);

/** What LiveKit's API answers. protojson may leave out an empty list. */
export const egressList = lazily(() =>
  z.object({ items: upToFirstFault(z.array(egressInfo())).default([]) }),
);

export type EgressInfo = z.output<ReturnType<typeof egressInfo>>;

const FINAL = ["EGRESS_COMPLETE", "EGRESS_LIMIT_REACHED", "EGRESS_FAILED", "EGRESS_ABORTED"];

const STATUSES = new Map<string, EgressReport["status"]>([
  ["EGRESS_STARTING", "egress_starting"],
  ["EGRESS_ACTIVE", "egress_active"],
  ["EGRESS_ENDING", "egress_ending"],
  ...FINAL.map((name) => [name, "egress_ended"] as const),
]);

/** What LiveKit says of an egress in a room. Where it does not say when the egress began, that is the time of the event. */
export interface EgressEvent extends Room {
  egress_id: string;
  started_at: number;
  report: EgressReport;
  /** Whether the name of the file cannot be a storage key of the organization. */
  has_unusable_file: boolean;
}

/**
 * Undefined where the name of the room names no organization.
 *
 * @param at when LiveKit said it, not in the future
 */
export function toEgressEvent(info: EgressInfo, at: number): EgressEvent | undefined {
  const { egressId, roomId, roomName, startedAt, endedAt } = info;
  const organization_slug = organizationSlugOf(roomName);
  if (organization_slug === undefined) return undefined;
  const report = toEgressReport(info, organization_slug);
  const started_at = startedAt || at;
  return {
    organization_slug,
    egress_id: egressId,
    room_sid: roomId,
    room_name: roomName,
    started_at,
    // What ended before a call began is no recording of it.
    begun_by: Math.min(beginOfCall(started_at), endedAt || Number.MAX_SAFE_INTEGER),
    happened_at: started_at,
    report,
    has_unusable_file: report.status === "egress_ended" && !report.storage_key && Boolean(nameOfFile(info)),
  };
}

/** What LiveKit says of an egress, as a report. It does not name the call. */
export function toEgressReport(info: EgressInfo, slug: string): EgressReport {
  // A status that LiveKit adds later is only sure to be an end if there is a time of it. Else it counts as the first
  // one, which never takes a known egress back.
  const status = STATUSES.get(info.status) ?? (info.endedAt ? "egress_ended" : "egress_starting");
  if (status !== "egress_ended") return { status };
  const name = nameOfFile(info);
  const parsed = storageKey().safeParse(name).data;
  const storage_key = parsed && isFileOf({ slug }, parsed) ? parsed : undefined;
  const error = asError(info.error) ?? (name && !storage_key ? UNUSABLE_NAME : undefined);
  return {
    status,
    ...(info.endedAt && { ended_at: info.endedAt }),
    ...(storage_key && { storage_key }),
    ...(error && { error }),
  };
}

/** LiveKit knows the name from the beginning. But there is only a file at the end, and after a failure maybe none. */
function nameOfFile({ status, fileResults, file }: EgressInfo): string | undefined {
  const isFailed = status === "EGRESS_FAILED" || status === "EGRESS_ABORTED";
  return [...fileResults, file].find((each) => each?.filename && (each.location || !isFailed))?.filename;
}

const storageKey = lazily(() => reportEgressBody().shape.egress.shape.storage_key);

const UNUSABLE_NAME =
  "The name of the file is not a path that begins with the organization's slug, so there is no download";

/** The text, as far as a report may have it. */
const asError = (error: string) =>
  [...error.toWellFormed().replaceAll("\0", "")].slice(0, MAX_ERROR_LENGTH).join("").trim() || undefined;
