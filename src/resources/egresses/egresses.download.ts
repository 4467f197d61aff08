import { AwsClient } from "aws4fetch";
import type { ClientContext } from "../../context.ts";
import { RECORDING_URL_LIFETIME } from "../../limits.ts";
import type { Settings } from "../../settings.ts";

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
  const path = [settings.RECORDINGS_S3_BUCKET, ...storage_key.split("/")].map(encodeRfc3986).join("/");
  const url = new URL(`${settings.RECORDINGS_S3_ENDPOINT.replace(/\/$/, "")}/${path}`, requestUrl);
  url.searchParams.set("X-Amz-Expires", String(RECORDING_URL_LIFETIME));
  url.searchParams.set("response-content-disposition", "attachment");
  url.searchParams.set("x-audit-log-id", String(audit_log_id));
  const datetime = new Date(now).toISOString().replace(/[:-]|\.\d{3}/g, "");
  const signed = await signer(settings).sign(url.href, { method: "GET", aws: { signQuery: true, datetime } });
  return signed.url;
}

/** One for each settings object: aws4fetch derives a signing key for the day, and keeps it while the client lives. */
const signers = new WeakMap<Settings, AwsClient>();

function signer(settings: Settings): AwsClient {
  const known = signers.get(settings);
  if (known) return known;
  const client = new AwsClient({
    accessKeyId: settings.RECORDINGS_S3_ACCESS_KEY_ID,
    secretAccessKey: settings.RECORDINGS_S3_SECRET_ACCESS_KEY,
    region: settings.RECORDINGS_S3_REGION,
    service: "s3",
  });
  signers.set(settings, client);
  return client;
}

/** S3 compares signatures over paths in which everything but RFC 3986's unreserved characters is encoded. */
function encodeRfc3986(segment: string): string {
  return encodeURIComponent(segment).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
