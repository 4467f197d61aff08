/** Files in a region's buckets, for the commands that copy or delete them. */
import { createHash, type Hash } from "node:crypto";
import { buffer } from "node:stream/consumers";
import {
  deleteFiles,
  filesUnder,
  fileUrl,
  md5Of,
  type RecordingStorage,
  type StoredFile,
  sign,
} from "../results/egresses/egresses.files.ts";
import { type Account, askCloudflare, sendToCloudflare } from "./cloudflare_api.ts";

type Bytes = AsyncIterable<Uint8Array>;

export interface FileStore {
  list: (prefix: string) => Promise<StoredFile[]>;
  /** null if there is no such file. */
  read: (key: string) => Promise<Response | null>;
  /** Returns the digest of the stored file if the storage names it, as in `StoredFile`. */
  write: (file: StoredFile, body: Bytes, type: string) => Promise<string | undefined>;
  /** Returns the keys that may still exist, each with the reason. */
  remove: (keys: string[]) => Promise<Map<string, string>>;
}

/** A bucket that S3 keys open or, on this machine, the bucket of a binding. */
export const storeIn = (storage: RecordingStorage): FileStore => ({
  async list(prefix) {
    const all: StoredFile[] = [];
    for await (const files of filesUnder(storage, prefix)) all.push(...files);
    return all;
  },
  remove: (keys) => deleteFiles(storage, keys),
  ...(storage.recordings ? bound(storage.recordings) : overS3(storage)),
});

/** Files on this machine are small. */
const bound = (bucket: R2Bucket): Pick<FileStore, "read" | "write"> => ({
  async read(key) {
    const file = await bucket.get(key);
    const headers = { "Content-Type": file?.httpMetadata?.contentType ?? "" };
    return file && new Response(await file.arrayBuffer(), { headers });
  },
  write: async ({ key }, body, contentType) =>
    (await bucket.put(key, await buffer(body), { httpMetadata: { contentType } }))?.etag,
});

const overS3 = ({ settings }: RecordingStorage): Pick<FileStore, "read" | "write"> => ({
  read: async (key) => foundIn(await fetch(await sign(settings, fileUrl(settings, key).href)), key),
  async write({ key, size }, body, type) {
    const headers = {
      ...{ "content-length": String(size), "x-amz-content-sha256": "UNSIGNED-PAYLOAD" },
      ...(type && { "content-type": type }),
    };
    const signed = await sign(settings, fileUrl(settings, key).href, { method: "PUT", headers });
    const all = { ...Object.fromEntries(signed.headers), ...headers };
    const stream = { body, duplex: "half" } as object;
    const response = await fetch(signed.url, { method: "PUT", headers: all, ...stream });
    await requireOk(response, key).body?.cancel();
    return md5Of(response.headers.get("ETag") ?? "");
  },
});

const foundIn = (response: Response, key: string) =>
  response.status === 404 ? null : requireOk(response, key);

function requireOk(response: Response, key: string): Response {
  if (response.ok) return response;
  throw new Error(`The storage answered ${response.status} for the file ${key}.`);
}

type ObjectAtCloudflare = Record<"key" | "etag" | "last_modified", string> & { size: number };

/** A bucket that no S3 key opens: over Cloudflare's REST API, which takes up to 300 MB for a file. */
export function atCloudflare(
  account: Account,
  { bucket_name, jurisdiction }: { bucket_name: string; jurisdiction?: string },
): FileStore {
  const objects = `/r2/buckets/${bucket_name}/objects`;
  const headers = { ...(jurisdiction && { "cf-r2-jurisdiction": jurisdiction }) };
  const send = (key: string, asking: Parameters<typeof sendToCloudflare>[2] = {}) =>
    sendToCloudflare(account, `${objects}/${key.split("/").map(encodeURIComponent).join("/")}`, {
      ...asking,
      headers: { ...headers, ...asking.headers },
    });
  return {
    async list(prefix) {
      const all: StoredFile[] = [];
      for (;;) {
        const query = new URLSearchParams({ prefix, per_page: "1000", start_after: all.at(-1)?.key ?? "" });
        const found = await askCloudflare<ObjectAtCloudflare[]>(account, `${objects}?${query}`, { headers });
        if (found.length === 0) return all;
        for (const { key, size, etag, last_modified } of found)
          all.push({ key, size, md5: md5Of(etag), uploaded: Date.parse(last_modified) });
      }
    },
    read: async (key) => foundIn(await send(key), key),
    async write({ key }, body) {
      const headers = { "Content-Type": "application/gzip" };
      const bytes = new Uint8Array(await buffer(body));
      const response = await send(key, { method: "PUT", headers, bytes });
      await requireOk(response, key).body?.cancel();
      return undefined;
    },
    async remove(keys) {
      const failures = new Map<string, string>();
      for (const key of keys) {
        const response = await send(key, { method: "DELETE" });
        if (!response.ok && response.status !== 404) failures.set(key, `status ${response.status}`);
      }
      return failures;
    },
  };
}

export async function* hashing({ body }: Response, hash: Hash) {
  for await (const chunk of body ?? []) {
    hash.update(chunk);
    yield chunk;
  }
}

/** Reads the file if the storage does not name its digest. */
export async function digestIn(store: FileStore, { key, md5 }: Pick<StoredFile, "key" | "md5">) {
  if (md5) return md5;
  const stored = await store.read(key);
  if (!stored) return undefined;
  const hash = createHash("md5");
  for await (const _ of hashing(stored, hash));
  return hash.digest("hex");
}
