import { organizationSlugOf } from "../database/slug.ts";
import { MAX_ERROR_LENGTH } from "../limits.ts";
import { lazily } from "../memory.ts";
import { isFileOf } from "../results/egresses/egresses.merge.ts";
import { type EgressReport, reportEgressBody } from "../results/egresses/egresses.schemas.ts";
import type { EgressInfo } from "./protojson.ts";

const STATUSES = new Map<string, EgressReport["status"]>([
  ["EGRESS_STARTING", "egress_starting"],
  ["EGRESS_ACTIVE", "egress_active"],
  ["EGRESS_ENDING", "egress_ending"],
  ["EGRESS_COMPLETE", "egress_ended"],
  ["EGRESS_LIMIT_REACHED", "egress_ended"],
  ["EGRESS_FAILED", "egress_ended"],
  ["EGRESS_ABORTED", "egress_ended"],
]);

export interface EgressEvent {
  organization_slug: string;
  egress_id: string;
  /** The key of the call; empty if LiveKit omits it. */
  room_sid: string;
  /** The report of the recording, without the fields of its file. */
  report: EgressReport;
  /** The downloadable files, in LiveKit's order. The recording gets the first one that no other recording has. */
  downloads: (Pick<EgressReport, "started_at" | "duration" | "size"> & { storage_key: string })[];
  /** The storage keys of all files, including playlists and the manifest. */
  storage_keys: string[];
  /** Whether the recording has ended and one of its file names cannot be a storage key of the organization. */
  has_unusable_file: boolean;
}

/**
 * Returns undefined if the room's name does not begin with an organization's slug.
 *
 * @param at when LiveKit reported it, not in the future
 */
export function toEgressEvent(info: EgressInfo, at: number): EgressEvent | undefined {
  const { egressId, roomId, roomName } = info;
  const organization_slug = organizationSlugOf(roomName);
  if (organization_slug === undefined) return undefined;
  // An unknown status counts as an end if the egress has ended. Otherwise it replaces no known status.
  const status = STATUSES.get(info.status) ?? (info.endedAt ? "egress_ended" : "egress_starting");
  const isEnded = status === "egress_ended";
  const results = [...info.fileResults, ...(info.file ? [info.file] : [])];
  const isUsable = (name: string) =>
    storageKey().safeParse(name).success && isFileOf({ slug: organization_slug }, name);
  // A file exists only at the end, and after a failure maybe not even then.
  const isFailed = info.status === "EGRESS_FAILED" || info.status === "EGRESS_ABORTED";
  const finished =
    isEnded && !info.backupStorageUsed
      ? results.filter(({ filename, location }) => filename && (location || !isFailed))
      : [];
  const named = namedFiles(info, organization_slug);
  const downloads = finished
    .filter(({ filename }) => isUsable(filename))
    .map(({ filename, startedAt, duration, size }) => ({
      storage_key: filename,
      ...(startedAt && { started_at: startedAt }),
      ...(duration && { duration }),
      ...(size && { size }),
    }));
  const error = errorOfEgress(info) || (finished.length > 0 && downloads.length === 0 && UNUSABLE_NAME);
  return {
    organization_slug,
    egress_id: egressId,
    room_sid: roomId,
    report: {
      status,
      reported_at: at,
      ...(isEnded && info.endedAt && { ended_at: info.endedAt }),
      ...(isEnded && error && { error }),
    },
    downloads,
    storage_keys: named.filter(isUsable),
    has_unusable_file: isEnded && !named.every(isUsable),
  };
}

const storageKey = lazily(() => reportEgressBody().shape.egress.shape.storage_key);

/** All file names without duplicates, including those that cannot be storage keys. */
function namedFiles(
  { egressId, fileResults, file, segmentResults, segments, manifestLocation }: EgressInfo,
  slug: string,
): string[] {
  const files = [...fileResults, file].map((each) => each?.filename);
  const lists = [...segmentResults, segments];
  const playlists = lists.flatMap((each) => [each?.playlistName, each?.livePlaylistName]);
  const media = [...files, ...playlists].flatMap((name) => name || []);
  // LiveKit puts a manifest into every folder that it records into, but reports the location of only one.
  const manifests = manifestLocation
    ? [
        ...media.map((name) => name.replace(/[^/]*$/, `${egressId}.json`)),
        ...keyAtLocation(manifestLocation, slug),
      ]
    : [];
  return [...new Set([...media, ...manifests])];
}

/** The storage key within the location of a file, which LiveKit gives as a URL or a path. */
function keyAtLocation(location: string, slug: string): string[] {
  const path = /^https?:/.test(location) ? pathOfUrl(location) : location;
  const start = `/${path}`.indexOf(`/${slug}/`);
  return start < 0 ? [] : [path.slice(start)];
}

/** Not parsed as a URL: LiveKit does not always encode the key, and parsing would resolve `..`. */
function pathOfUrl(url: string): string {
  const path = url.replace(/^https?:\/\/[^/]*\//, "").replace(/\?.*$/s, "");
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

const UNUSABLE_NAME =
  "The name of the file is not a path that begins with the organization's slug, so there is no download";

/** LiveKit's error, cut to the length that a report allows. If the file is in the backup storage, it also says where. */
function errorOfEgress({ error, backupStorageUsed, fileResults, file }: EgressInfo): string {
  const [stored] = [...fileResults, file].flatMap((each) => each?.location || each?.filename || []);
  const place = backupStorageUsed
    ? `LiveKit put the file into its backup storage, where the service can neither read nor delete it: ${stored ?? "LiveKit does not say where"}`
    : "";
  const texts = [error, place].map((text) => text.toWellFormed().replaceAll("\0", "").trim());
  return [...texts.filter(Boolean).join(". ")].slice(0, MAX_ERROR_LENGTH).join("").trim();
}
