import { hexOf } from "../../bytes/hex.ts";
import { jsonOrUndefined } from "../../bytes/json.ts";
import { type AccessLog, toNdjson } from "../access_logs/access_logs.schemas.ts";

/*
 * The file of a sealed day, compressed: each line is an entry, as lists show it. It is packed twice, page by page: first to learn
 * its size and digest, then into the bucket. So memory use does not depend on its length.
 */

/** A seal's description of a file. The digest covers the uncompressed lines. */
interface Contents {
  count: number;
  first_id: number;
  last_id: number;
  sha256: string;
}

export const fileOf = (organization_id: number, date: string) => `${organization_id}/${date}.ndjson.gz`;

/** @param file receives the compressed lines; without it, they are only counted */
export async function packEntries(
  pages: AsyncIterable<AccessLog[]>,
  file?: WritableStream<Uint8Array>,
): Promise<{ contents: Contents; size: number }> {
  const digest = new crypto.DigestStream("SHA-256");
  const gzip = new CompressionStream("gzip");
  const writers = [digest.getWriter(), gzip.writable.getWriter()];
  let size = 0;
  const counted = new WritableStream<Uint8Array>({
    write({ length }) {
      size += length;
    },
  });
  const stored = gzip.readable.pipeTo(file ?? counted);
  // Awaited below, once all lines are written.
  stored.catch(() => {});
  const contents = { count: 0, first_id: 0, last_id: 0 };
  try {
    for await (const page of pages) {
      contents.first_id ||= page[0]?.id ?? 0;
      contents.last_id = page.at(-1)?.id ?? contents.last_id;
      contents.count += page.length;
      for (const lines of toNdjson(page)) {
        const bytes = new TextEncoder().encode(lines);
        await Promise.all(writers.map((writer) => writer.write(bytes)));
      }
    }
    await Promise.all(writers.map((writer) => writer.close()));
    await stored;
  } catch (error) {
    await Promise.allSettled([digest.digest, ...writers.map((writer) => writer.abort(error))]);
    throw error;
  }
  return { contents: { ...contents, sha256: hexOf(new Uint8Array(await digest.digest)) }, size };
}

/**
 * Writes a file unless it exists: no file is ever overwritten. R2 supports this condition for a put, which needs the
 * length in advance, but not for a multipart upload.
 *
 * @returns false if the file exists
 */
export async function storeSealedDay(
  bucket: R2Bucket,
  name: string,
  size: number,
  write: (file: WritableStream<Uint8Array>) => Promise<unknown>,
): Promise<boolean> {
  const { readable, writable } = new FixedLengthStream(size);
  // If writing fails, the put rejects with the same error. If the file exists, R2 need not read the stream.
  void write(writable).catch(() => {});
  const stored = await bucket.put(name, readable, {
    onlyIf: new Headers({ "If-None-Match": "*" }),
    httpMetadata: { contentType: "application/gzip" },
  });
  return stored !== null;
}

/** The digest of an existing file's lines, and the id in its last line; null if there is no file. */
export async function readFile(bucket: R2Bucket, name: string) {
  const object = await bucket.get(name);
  if (!object) return null;
  const digest = new crypto.DigestStream("SHA-256");
  const writer = digest.getWriter();
  const decoder = new TextDecoder();
  let lastLine = "";
  const lines = object.body.pipeThrough(new DecompressionStream("gzip"));
  for await (const chunk of lines as ReadableStream<Uint8Array>) {
    await writer.write(chunk);
    // Ignores a newline at the end of the chunk, so that the last line is not empty.
    const start = chunk.subarray(0, -1).lastIndexOf(0x0a) + 1;
    const isGoingOn = start === 0 && !lastLine.endsWith("\n");
    lastLine = (isGoingOn ? lastLine : "") + decoder.decode(chunk.subarray(start));
  }
  await writer.close();
  const entry = jsonOrUndefined(lastLine) as { id?: number } | null | undefined;
  // 0 if the line is not an entry.
  return { last_id: Number(entry?.id) || 0, sha256: hexOf(new Uint8Array(await digest.digest)) };
}
