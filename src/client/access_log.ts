/** The check of an organization's access log, by somebody who has only credentials for it. */
import { verifySource } from "./access_log_check.ts";
import { accessLogOf } from "./access_log_source.ts";
import type { VerifiedAccessLog, VerifyOptions } from "./access_log_types.ts";
import type { ClientSettings } from "./settings.ts";

export { type AccessLogSeal, type PublishedKey, verifySeals } from "./access_log_chain.ts";
export { AccessLogFault } from "./access_log_faults.ts";
export type { VerifiedAccessLog, VerifyOptions } from "./access_log_types.ts";

/**
 * Checks the seals of the organization's access log, their files, and that the service shows what they hold. It trusts nothing that
 * comes from the service but the public keys, and where receivers kept digests of seals, not these either; and it takes no
 * more memory, however long the log is. The client must act as an organization_admin. Without settings of your own, a request
 * may take ten minutes, and is sent again up to eight times.
 *
 * @throws AccessLogFault naming the day and the first fault
 * @throws VideoVisitError if the service cannot be asked
 */
export const verifyAccessLog = (
  settings: ClientSettings,
  { from, heads = [], actingUser = "verify-access-log", signal, onProgress = () => {} }: VerifyOptions = {},
): Promise<VerifiedAccessLog> =>
  verifySource(accessLogOf(settings, actingUser, signal), { from, heads, now: Date.now(), onProgress });
