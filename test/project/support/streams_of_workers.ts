/** The streams that Workers have and Node lacks, and a bucket in memory. */
import { DigestStream } from "./worker_in_node.ts";

Object.assign(crypto, { DigestStream });

/** Ignores its argument, the length, which nothing here checks. */
function FixedLengthStream() {
  return new TransformStream();
}

Object.assign(globalThis, { FixedLengthStream });

/** A bucket that never writes a file twice. */
export function aBucket(): R2Bucket {
  const files = new Map<string, Uint8Array>();
  return {
    async put(name: string, body: ReadableStream) {
      const bytes = new Uint8Array(await new Response(body).arrayBuffer());
      if (files.has(name)) return null;
      files.set(name, bytes);
      return {};
    },
    async get(name: string) {
      const bytes = files.get(name);
      return bytes ? { body: new Response(bytes.slice()).body, size: bytes.length } : null;
    },
    async delete() {},
  } as unknown as R2Bucket;
}
