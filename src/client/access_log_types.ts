import type { AccessLogSeal, PublishedKey } from "./access_log_chain.ts";

export interface VerifyOptions {
  /** Files before this date are not read. Seals are all checked. */
  from?: string | undefined;
  /** Digests of seals that receivers kept: the `date` and `seal_sha256` of events `access_log.sealed`. */
  heads?: readonly { date: string; seal_sha256: string }[] | undefined;
  /** For whom the check is made: the service records it. By default `verify-access-log`. */
  actingUser?: string | undefined;
  /** Ends it at once. */
  signal?: AbortSignal | undefined;
  /** Is called after each day, and during a long one. */
  onProgress?: ((date: string, entries: number) => void) | undefined;
}

export interface VerifiedAccessLog {
  organization_id: number | null;
  entries: number;
  days: number;
  /** The newest seal: keep it, where nobody who runs the service can change it. */
  head: { date: string; seal_sha256: string } | null;
  /** What is no fault, and should be asked about. */
  warnings: string[];
}

/** What a check is given, beside the log. */
export interface Check extends Required<Pick<VerifyOptions, "heads" | "onProgress">> {
  from: string | undefined;
  now: number;
}

/** Where an access log comes from. */
export interface AccessLogSource {
  keys(): Promise<PublishedKey[]>;
  /** All seals, oldest first. */
  seals(): Promise<AccessLogSeal[]>;
  /** The bytes of a day's file; null if there is none. */
  file(date: string): Promise<AsyncIterable<Uint8Array> | null>;
  /** What the list shows after an id, as lines of NDJSON. */
  list(after: number): AsyncIterable<string>;
}

/** In characters. An entry has some hundred. */
export const LONGEST_LINE: number = 65_536;
