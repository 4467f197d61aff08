import type { Context as HonoContext } from "hono";
import { BODY_TIMEOUT } from "../lifetimes.ts";
import { bodyTooLarge, bodyTooSlow } from "./errors.ts";

declare module "hono" {
  interface ContextVariableMap {
    /** The bytes of the body, once it has been read, where `keepsBody` is set before. */
    body: Uint8Array<ArrayBuffer>;
    /** Otherwise nothing holds the bytes while the request is handled: many large ones at once would exhaust the isolate. */
    keepsBody: boolean;
    /**
     * Each API sets its own. It takes the time of the request again, and the rights of its caller: a body can arrive long after
     * the head of its request.
     *
     * @param size of the body in bytes
     */
    onWholeRequest: (size: number) => Promise<void> | void;
  }
}

/**
 * Reads the body. Nothing else reads one, so that no route can act with the time and rights of an incomplete request.
 *
 * @param maxSize in bytes
 * @throws ApiError 413 if the body is larger, 408 if it is not there after BODY_TIMEOUT
 */
export async function readBody(c: HonoContext, maxSize: number): Promise<Uint8Array<ArrayBuffer>> {
  if (Number(c.req.header("Content-Length")) > maxSize) throw bodyTooLarge(maxSize);
  const body = await allBytes(c.req.raw.body, maxSize);
  if (c.var.keepsBody) c.set("body", body);
  await c.var.onWholeRequest(body.length);
  return body;
}

async function allBytes(body: ReadableStream<Uint8Array> | null, maxSize: number) {
  const reader = body?.getReader();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(bodyTooSlow()), BODY_TIMEOUT);
  });
  try {
    const chunks: Uint8Array[] = [];
    let size = 0;
    for (;;) {
      const read = await Promise.race([late, reader?.read()]);
      if (!read || read.done) break;
      size += read.value.length;
      if (size > maxSize) throw bodyTooLarge(maxSize);
      chunks.push(read.value);
    }
    return joined(chunks, size);
  } catch (error) {
    reader?.cancel().catch(() => {});
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

function joined(chunks: Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
