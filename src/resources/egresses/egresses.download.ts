import type { ClientContext } from "../../context.ts";
import { RECORDING_URL_LIFETIME } from "../../limits.ts";
import { fileUrl, signer } from "./egresses.files.ts";

/**
 * A presigned GET of a recording, valid for 15 minutes (AWS Signature Version 4, in the query).
 *
 * It names the entry of the audit log for which it is made. So no two URLs are the same, and a storage that logs its
 * requests leads back to the entry. S3 ignores parameters that begin with `x-`, but logs them.
 *
 * The endpoint setting is resolved against the URL of the request: a path serves any port that development uses,
 * an absolute URL serves production.
 */
export async function presignDownload(
  { settings, url: requestUrl, now }: Pick<ClientContext, "settings" | "url" | "now">,
  storage_key: string,
  audit_log_id: number,
): Promise<string> {
  const url = fileUrl(settings, storage_key, requestUrl);
  url.searchParams.set("X-Amz-Expires", String(RECORDING_URL_LIFETIME));
  url.searchParams.set("response-content-disposition", "attachment");
  url.searchParams.set("x-audit-log-id", String(audit_log_id));
  const datetime = new Date(now).toISOString().replace(/[:-]|\.\d{3}/g, "");
  const signed = await signer(settings).sign(url.href, { method: "GET", aws: { signQuery: true, datetime } });
  return signed.url;
}
