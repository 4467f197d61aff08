/** What the check of an access log is given, and what it finds. */
import type { Seal } from "../resources/access_log_seals/access_log_seals.schemas.ts";

export interface Key {
  kty: string;
  crv: string;
  x: string;
  kid: string;
}

/** Where all comes from. */
export interface AccessLogSource {
  keys(): Promise<Key[]>;
  /** All seals, oldest first. */
  seals(): Promise<Seal[]>;
  /** The bytes of a part of a day, whose file has come as a whole; null if there is none. */
  file(date: string, part: number): Promise<AsyncIterable<Uint8Array> | null>;
  /** What the list shows after an id, as lines of NDJSON. */
  list(after: number): AsyncIterable<string>;
}

export interface Check {
  /** Files before this date are not read. Seals are all checked. */
  from?: string | undefined;
  /** Digests of seals that receivers kept, by date. */
  heads: [date: string, seal_sha256: string][];
  now: number;
  progress: (date: string, entries: number) => void;
}

/** The first fault that was found, and the day that it is about. */
export class AccessLogFault extends Error {
  constructor(date: string, fault: string) {
    super(`${date}: ${fault}`);
  }
}

/** @returns a function that throws a fault of the day */
export const failing =
  (date: string, part = 1) =>
  (fault: string): never => {
    throw new AccessLogFault(part === 1 ? date : `${date}, part ${part}`, fault);
  };
