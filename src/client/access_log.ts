/** The check of an organization's access log, by somebody who has only credentials for it. */
import { verifySource } from "./access_log_check.ts";
import { accessLogOf } from "./access_log_source.ts";
import type { ClientSettings } from "./client.ts";

export { type AccessLogSeal, type PublishedKey, verifySeals } from "./access_log_chain.ts";
export { AccessLogFault } from "./access_log_faults.ts";

export interface VerifyOptions {
  /** Files before this date are not read. Seals are all checked. */
  from?: string | undefined;
  /** Digests of seals that receivers kept: the `date` and `seal_sha256` of events `access_log.sealed`. */
  heads?: readonly { date: string; seal_sha256: string }[] | undefined;
  /** For whom the check is made: the service records it. By default `verify-access-log`. */
  actingUser?: string | undefined;
  /** Is called after each part of a day, and during a long one. */
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

/**
 * Checks the seals of the organization's access log, their files, and that the service shows what they hold. It trusts nothing that
 * comes from the service but the public keys, and where receivers kept digests of seals, not these either; and it takes no
 * more memory, however long the log is. The client must act as an organization_admin.
 *
 * @throws AccessLogFault naming the day and the first fault
 * @throws VideoVisitError if the service cannot be asked
 */
export const verifyAccessLog = (
  settings: ClientSettings,
  { from, heads = [], actingUser = "verify-access-log", onProgress = () => {} }: VerifyOptions = {},
): Promise<VerifiedAccessLog> =>
  verifySource(accessLogOf(settings, actingUser), { from, heads, now: Date.now(), onProgress });
