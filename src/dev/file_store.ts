/** Files in a region's buckets, for the commands that copy or delete them. */
import { createHash } from "node:crypto";
import {
  deleteFiles,
  filesUnder,
  fileUrl,
  md5Of,
  pageOfBinding,
  type RecordingStorage,
  type StoredFile,
  sign,
} from "../results/egresses/egresses.files.ts";
import { type Account, askCloudflare, sendToCloudflare } from "./cloudflare_api.ts";

export interface FileStore {
  list: (prefix: string) => AsyncIterable<StoredFile[]>;
  /** null if there is no such file. */
  read: (key: string) => Promise<ReadableStream<Uint8Array> | null>;
  /** Returns the digest of the stored file if the storage names it, as in `StoredFile`. */
  write: (file: StoredFile, body: ReadableStream<Uint8Array>) => Promise<string | undefined>;
  /** Returns the keys that may still exist, each with the reason. */
  remove: (keys: string[]) => Promise<Map<string, string>>;
}

/** The recordings: in the local bucket, or over S3. */
export const recordingsIn = (storage: RecordingStorage): FileStore => ({
  ...(storage.recordings ? bound(storage.recordings) : overS3(storage)),
  list: (prefix) => filesUnder(storage, prefix),
  remove: (keys) => deleteFiles(storage, keys),
});

/** A bucket on this machine, where files are small. */
export const bound = (bucket: R2Bucket): FileStore => ({
  async *list(prefix) {
    for (let cursor: string | undefined, isMore = true; isMore; isMore = cursor !== undefined) {
      const page = await pageOfBinding(bucket, prefix, cursor);
      cursor = page.cursor;
      yield page.files;
    }
  },
  read: async (key) => ((await bucket.get(key))?.body as ReadableStream<Uint8Array>) ?? null,
  write: async ({ key }, body) => (await bucket.put(key, await new Response(body).arrayBuffer()))?.etag,
  remove: async (keys) => {
    await bucket.delete(keys);
    return new Map();
  },
});

const overS3 = ({ settings }: RecordingStorage): Pick<FileStore, "read" | "write"> => ({
  async read(key) {
    const response = await fetch(await sign(settings, fileUrl(settings, key).href));
    if (response.status === 404) return null;
    return bodyOf(response, key);
  },
  async write({ key, size }, body) {
    const headers = { "content-length": String(size), "x-amz-content-sha256": "UNSIGNED-PAYLOAD" };
    const { href } = fileUrl(settings, key);
    const signed = await sign(settings, href, { method: "PUT", headers });
    const stream = { body, duplex: "half" } as RequestInit;
    const all = { ...Object.fromEntries(signed.headers), ...headers };
    const response = await fetch(signed.url, { method: "PUT", headers: all, ...stream });
    await bodyOf(response, key)?.cancel();
    return md5Of(response.headers.get("ETag") ?? "");
  },
});

function bodyOf(response: Response, key: string): ReadableStream<Uint8Array> {
  if (response.ok) return response.body ?? new Blob([]).stream();
  throw new Error(`The storage answered ${response.status} for the file ${key}.`);
}

interface ObjectAtCloudflare {
  key: string;
  size: number;
  etag: string;
  last_modified: string;
}

/** A bucket that no S3 key opens: over Cloudflare's REST API, which takes up to 300 MB for a file. */
export function atCloudflare(
  account: Account,
  { bucket_name, jurisdiction }: { bucket_name: string; jurisdiction?: string },
): FileStore {
  const objects = `/r2/buckets/${bucket_name}/objects`;
  const pathOf = (key: string) => `${objects}/${key.split("/").map(encodeURIComponent).join("/")}`;
  const headers = { ...(jurisdiction && { "cf-r2-jurisdiction": jurisdiction }) };
  return {
    async *list(prefix) {
      for (let startAfter = ""; ; ) {
        const query = new URLSearchParams({ prefix, per_page: "1000", start_after: startAfter });
        const found = await askCloudflare<ObjectAtCloudflare[]>(account, `${objects}?${query}`, { headers });
        if (found.length === 0 || (found[0]?.key ?? "") <= startAfter) return;
        yield found.map(({ key, size, etag, last_modified }) => ({
          ...{ key, size, md5: md5Of(etag), uploaded: Date.parse(last_modified) },
        }));
        startAfter = found.at(-1)?.key ?? "";
      }
    },
    async read(key) {
      const response = await sendToCloudflare(account, pathOf(key), { headers });
      return response.status === 404 ? null : bodyOf(response, key);
    },
    async write({ key }, body) {
      const bytes = new Uint8Array(await new Response(body).arrayBuffer());
      const type = { "Content-Type": "application/gzip" };
      const asking = { method: "PUT", headers: { ...headers, ...type }, bytes } as const;
      await bodyOf(await sendToCloudflare(account, pathOf(key), asking), key).cancel();
      return undefined;
    },
    async remove(keys) {
      const failures = new Map<string, string>();
      for (const key of keys) {
        const response = await sendToCloudflare(account, pathOf(key), { method: "DELETE", headers });
        if (!response.ok && response.status !== 404) failures.set(key, `status ${response.status}`);
      }
      return failures;
    },
  };
}

export function hashing(body: ReadableStream<Uint8Array>) {
  const hash = createHash("md5");
  const hashed = body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        hash.update(chunk);
        controller.enqueue(chunk);
      },
    }),
  );
  return { body: hashed, md5: () => hash.digest("hex") };
}

/** Reads the file if the storage does not name its digest. */
export async function digestIn(store: FileStore, { key, md5 }: Pick<StoredFile, "key" | "md5">) {
  if (md5) return md5;
  const stored = await store.read(key);
  if (!stored) return undefined;
  const { body, md5: digest } = hashing(stored);
  await body.pipeTo(new WritableStream());
  return digest();
}
