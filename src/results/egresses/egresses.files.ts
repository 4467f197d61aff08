import { AwsClient } from "aws4fetch";
import type { ClientContext, Context } from "../../context.ts";
import { RECORDING_URL_LIFETIME } from "../../lifetimes.ts";
import type { Settings } from "../../settings.ts";
import { FILE_DELETION_TIMEOUT, FILE_DELETIONS_AT_ONCE, FILE_DELETIONS_TIME_LIMIT } from "../../tuning.ts";

/**
 * The URL of a file in the storage's S3 API.
 *
 * @param base the URL to resolve the endpoint setting against, if the setting is a path
 */
function fileUrl(settings: Settings, storage_key: string, base?: string): URL {
  const path = [settings.RECORDINGS_S3_BUCKET, ...storage_key.split("/")].map(encodeRfc3986).join("/");
  return new URL(`${settings.RECORDINGS_S3_ENDPOINT.replace(/\/$/, "")}/${path}`, base);
}

/** One per settings object, because aws4fetch derives a signing key per day and keeps it as long as the client lives. */
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

/** S3 verifies signatures over paths in which everything except RFC 3986's unreserved characters is encoded. */
function encodeRfc3986(segment: string): string {
  return encodeURIComponent(segment).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/**
 * A presigned GET of a recording, valid for 15 minutes (AWS Signature Version 4, in the query).
 *
 * The URL contains the id of its entry in the audit log. So no two URLs are the same, and the storage's request log
 * leads back to the entry. S3 ignores parameters that begin with `x-`, but logs them.
 *
 * The endpoint setting is resolved against the URL of the request: in development it is a path, which works on any
 * port; in production it is an absolute URL.
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

/**
 * Deletes files from the storage that the download URLs point to. A missing file counts as deleted.
 *
 * If the endpoint setting is a path, it is wrangler's own S3 API for the bucket binding. A cron has no URL to resolve
 * the path against, so the binding deletes the files. Otherwise they are deleted with S3 requests, because the binding
 * would report success for files in another storage.
 *
 * @returns the files that may still exist, each with the reason
 */
export async function deleteFiles(
  context: Pick<Context, "settings" | "recordings">,
  storage_keys: string[],
): Promise<Map<string, string>> {
  const { settings, recordings } = context;
  const failures = new Map<string, string>();
  if (storage_keys.length === 0) return failures;
  const isBinding = settings.RECORDINGS_S3_ENDPOINT.startsWith("/");
  if (isBinding && (await succeeds(() => recordings.delete(storage_keys)))) return failures;
  // If deleting all at once fails, a single file may be the cause.
  const deleteFile = isBinding
    ? (storage_key: string) => recordings.delete(storage_key)
    : (storage_key: string) => deleteByS3(settings, storage_key);
  const deadline = Date.now() + FILE_DELETIONS_TIME_LIMIT;
  const waiting = [...storage_keys];
  const deleteWaiting = async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop())
      try {
        if (Date.now() > deadline) throw new StorageError("time limit");
        await deleteFile(next);
      } catch (error) {
        failures.set(next, error instanceof StorageError ? error.message : "unreachable");
      }
  };
  await Promise.all(Array.from({ length: FILE_DELETIONS_AT_ONCE }, deleteWaiting));
  return failures;
}

/** The message is logged, so it must contain only fixed texts. */
class StorageError extends Error {}

async function deleteByS3(settings: Settings, storage_key: string): Promise<void> {
  const request = await signer(settings).sign(fileUrl(settings, storage_key).href, { method: "DELETE" });
  const response = await fetch(request, {
    redirect: "manual",
    signal: AbortSignal.timeout(FILE_DELETION_TIMEOUT),
  });
  const { status } = response;
  // S3 answers 204 for a missing file too. A 404 may mean that the whole bucket is missing, because the setting is wrong.
  const isGone = status === 404 ? (await response.text()).includes("<Code>NoSuchKey</Code>") : response.ok;
  if (status !== 404) await response.body?.cancel();
  if (!isGone) throw new StorageError(`status ${status}`);
}

const succeeds = (work: () => Promise<unknown>) =>
  work().then(
    () => true,
    () => false,
  );
