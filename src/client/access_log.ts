/** Checks an organization's access log with nothing but API client credentials. */
import { verifySource } from "./access_log_files.ts";
import { accessLogOf } from "./access_log_source.ts";
import type { VerifiedAccessLog, VerifyOptions } from "./access_log_types.ts";
import type { ClientSettings } from "./settings.ts";

export { type AccessLogSeal, type PublishedKey, verifySeals } from "./access_log_chain.ts";
export { AccessLogFault, type VerifiedAccessLog, type VerifyOptions } from "./access_log_types.ts";

/**
 * Checks the seals of the organization's access log and their files, and that the service shows the entries in those files.
 *
 * It trusts nothing from the service except the public keys, and not even those if you pass digests that receivers kept
 * (`heads`). Memory use does not grow with the log. The client must act as an organization_admin. By default, a request may
 * take ten minutes and is retried up to eight times.
 *
 * @throws AccessLogFault for the first fault found, with its day
 * @throws VideoVisitError if the service cannot be reached or refuses a request
 */
export const verifyAccessLog = (
  settings: ClientSettings,
  { from, heads = [], actingUser = "verify-access-log", signal, onProgress = () => {} }: VerifyOptions = {},
): Promise<VerifiedAccessLog> =>
  verifySource(accessLogOf(settings, actingUser, signal), { from, heads, now: Date.now(), onProgress });
