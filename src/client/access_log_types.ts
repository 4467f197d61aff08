import type { AccessLogSeal } from "../../dist/client/external/types.gen.js";

/** A key from `/.well-known/jwks.json` (RFC 8037). */
export interface PublishedKey {
  kty: string;
  crv: string;
  x: string;
  kid: string;
}

export interface VerifyOptions {
  /** Skips the files of days before this UTC date, such as `2026-01-31`. All seals are checked anyway. */
  from?: string | undefined;
  /** Digests that your webhook receivers kept: the `date` and `seal_sha256` of each `access_log.sealed` event. */
  heads?: readonly { date: string; seal_sha256: string }[] | undefined;
  /** The person you check for, which the service records. By default `verify-access-log`. */
  actingUser?: string | undefined;
  /** Stops the check at once. */
  signal?: AbortSignal | undefined;
  /** Called after each day, and every so often during a long one. */
  onProgress?: ((date: string, entries: number) => void) | undefined;
}

export interface VerifiedAccessLog {
  organization_id: number | null;
  entries: number;
  days: number;
  /** The newest seal. Keep it where nobody who runs the service can change it. */
  head: { date: string; seal_sha256: string } | null;
  /** Findings that are not faults, but worth asking the operator about. */
  warnings: string[];
}

export interface Check extends Required<Pick<VerifyOptions, "heads" | "onProgress">> {
  from: string | undefined;
  now: number;
}

export interface AccessLogSource {
  keys(): Promise<PublishedKey[]>;
  /** All seals, oldest first. */
  seals(): Promise<AccessLogSeal[]>;
  file(date: string): Promise<AsyncIterable<Uint8Array> | null>;
  list(after: number): AsyncIterable<string>;
}

/** In characters. An entry has a few hundred, or a few thousand if it names 500 participants. */
export const LONGEST_LINE: number = 65_536;

export class AccessLogFault extends Error {
  readonly date: string;

  constructor(date: string, fault: string) {
    super(`${date}: ${fault}`);
    this.name = "AccessLogFault";
    this.date = date;
  }
}

export const failing =
  (date: string): ((fault: string) => never) =>
  (fault) => {
    throw new AccessLogFault(date, fault);
  };
