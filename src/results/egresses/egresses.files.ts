import { AwsClient } from "aws4fetch";
import type { ClientContext } from "../../context.ts";
import { RECORDING_URL_LIFETIME } from "../../lifetimes.ts";
import type { StorageSettings } from "../../settings.ts";
import { FILE_DELETION_TIMEOUT, FILE_DELETIONS_AT_ONCE, FILE_DELETIONS_TIME_LIMIT } from "../../tuning.ts";

/** @param base the URL to resolve the endpoint setting against, if the setting is a path */
export const fileUrl = (settings: StorageSettings, storage_key: string, base?: string): URL =>
  new URL(`${bucketUrl(settings)}/${storage_key.split("/").map(encodeRfc3986).join("/")}`, base);

const bucketUrl = ({ RECORDINGS_S3_ENDPOINT, RECORDINGS_S3_BUCKET }: StorageSettings) =>
  `${RECORDINGS_S3_ENDPOINT.replace(/\/$/, "")}/${encodeRfc3986(RECORDINGS_S3_BUCKET)}`;

/** One per settings object, because aws4fetch derives a signing key per day and keeps it as long as the client lives. */
const signers = new WeakMap<StorageSettings, AwsClient>();

function signer(settings: StorageSettings): AwsClient {
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

export const sign = (
  settings: StorageSettings,
  url: string,
  init?: { method: string; headers: HeadersInit },
) => signer(settings).sign(url, init);

/** S3 verifies signatures over paths in which everything except RFC 3986's unreserved characters is encoded. */
const encodeRfc3986 = (segment: string): string =>
  encodeURIComponent(segment).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/**
 * A presigned GET of a recording (AWS Signature Version 4, in the query).
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

/** Stores a file as a recorder does, for development tools. */
export const storeFile = (settings: StorageSettings, base: string, storage_key: string, body: ArrayBuffer) =>
  signer(settings).fetch(fileUrl(settings, storage_key, base).href, { method: "PUT", body });

export interface RecordingStorage {
  settings: StorageSettings;
  /** The Worker's own bucket, if the settings name no other storage. */
  recordings?: R2Bucket;
}

/**
 * If the endpoint setting is a path, it is wrangler's own S3 API for the bucket binding. Without the URL of a request, there is
 * nothing to resolve the path against, so the binding is used. It is never used otherwise: it knows nothing of files in another
 * storage.
 */
function boundBucket({ settings, recordings }: RecordingStorage): R2Bucket | undefined {
  if (!settings.RECORDINGS_S3_ENDPOINT.startsWith("/")) return undefined;
  if (!recordings) throw new StorageError("RECORDINGS_S3_ENDPOINT must be a URL");
  return recordings;
}

/**
 * Deletes files from the storage that the download URLs point to. A missing file counts as deleted.
 *
 * @returns the files that may still exist, each with the reason
 */
export async function deleteFiles(storage: RecordingStorage, storage_keys: string[]) {
  const failures = new Map<string, string>();
  if (storage_keys.length === 0) return failures;
  const bucket = boundBucket(storage);
  const deadline = Date.now() + FILE_DELETIONS_TIME_LIMIT;
  const waiting = [...storage_keys];
  const deleteWaiting = async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop())
      try {
        if (Date.now() > deadline) throw new StorageError("time limit");
        await (bucket ? bucket.delete(next) : deleteByS3(storage.settings, next));
      } catch (error) {
        failures.set(next, error instanceof StorageError ? error.message : "unreachable");
      }
  };
  await Promise.all(Array.from({ length: FILE_DELETIONS_AT_ONCE }, deleteWaiting));
  return failures;
}

export interface StoredFile {
  key: string;
  size: number;
  /** In hex. Undefined if the file was uploaded in parts: then the storage does not name it. */
  md5: string | undefined;
  uploaded: number;
}

/** @throws StorageError if the storage does not answer with a list */
export async function* filesUnder(storage: RecordingStorage, prefix: string): AsyncGenerator<StoredFile[]> {
  const bucket = boundBucket(storage);
  let cursor: string | undefined;
  do {
    const page = bucket
      ? await pageOfBinding(bucket, prefix, cursor)
      : await pageOfS3(storage.settings, prefix, cursor);
    if (page.files.length > 0) yield page.files;
    cursor = page.cursor;
  } while (cursor !== undefined);
}

async function pageOfBinding(bucket: R2Bucket, prefix: string, cursor: string | undefined) {
  const page = await bucket.list({ prefix, cursor });
  const files = page.objects.map(
    ({ key, size, etag, uploaded }): StoredFile => ({
      ...{ key, size, md5: md5Of(etag), uploaded: uploaded.getTime() },
    }),
  );
  return { files, cursor: page.truncated ? page.cursor : undefined };
}

/** An ETag is the MD5 of the file, unless it was uploaded in parts. */
export const md5Of = (etag: string): string | undefined =>
  /^(?:"|&quot;)?([0-9a-f]{32})(?:"|&quot;)?$/.exec(etag)?.[1];

/** ListObjectsV2. The keys are URL-encoded, because XML cannot contain every character of a key. */
async function pageOfS3(settings: StorageSettings, prefix: string, cursor: string | undefined) {
  const url = new URL(bucketUrl(settings));
  url.searchParams.set("list-type", "2");
  url.searchParams.set("encoding-type", "url");
  url.searchParams.set("prefix", prefix);
  if (cursor !== undefined) url.searchParams.set("continuation-token", cursor);
  const response = await fetch(await signer(settings).sign(url.href), {
    redirect: "manual",
    signal: AbortSignal.timeout(FILE_DELETION_TIMEOUT),
  });
  if (!response.ok)
    throw new StorageError(
      `The storage answered ${response.status} instead of a list of files: check RECORDINGS_S3_…`,
    );
  const list = await response.text();
  if (!list.includes("<EncodingType>url</EncodingType>"))
    throw new StorageError("The storage does not encode the keys in its list of files");
  const [token] = contentsOf("NextContinuationToken", list);
  return {
    files: contentsOf("Contents", list).map((entry): StoredFile => {
      const [key = "", size, etag = "", modified = ""] = ["Key", "Size", "ETag", "LastModified"].flatMap(
        (each) => contentsOf(each, entry).slice(0, 1),
      );
      return {
        key: decodeURIComponent(key.replaceAll("+", " ")),
        ...{ size: Number(size), md5: md5Of(etag), uploaded: Date.parse(modified) },
      };
    }),
    cursor: token?.replaceAll("&amp;", "&"),
  };
}

const contentsOf = (element: string, xml: string): string[] =>
  Array.from(xml.matchAll(new RegExp(`<${element}>(.*?)</${element}>`, "gs")), ([, text = ""]) => text);

/** The message is logged, so it must contain only fixed texts. */
class StorageError extends Error {}

async function deleteByS3(settings: StorageSettings, storage_key: string): Promise<void> {
  // A URL resolves these segments, so that the request would delete another file.
  if (storage_key.split("/").some((segment) => [".", ".."].includes(segment)))
    throw new StorageError("a segment of the key is . or ..");
  const request = await signer(settings).sign(fileUrl(settings, storage_key).href, { method: "DELETE" });
  const response = await fetch(request, {
    redirect: "manual",
    signal: AbortSignal.timeout(FILE_DELETION_TIMEOUT),
  });
  // S3 answers 204 for a missing file too. A 404 may mean that the whole bucket is missing, because the setting is wrong.
  const isMissing = response.status === 404 && (await response.text()).includes("<Code>NoSuchKey</Code>");
  if (!response.bodyUsed) await response.body?.cancel();
  if (!response.ok && !isMissing) throw new StorageError(`status ${response.status}`);
}
