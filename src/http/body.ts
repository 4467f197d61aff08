import type { Context as HonoContext } from "hono";
import { BODY_TIMEOUT } from "../lifetimes.ts";
import { bodyTooLarge, bodyTooSlow, unsupportedEncoding } from "./errors.ts";

declare module "hono" {
  interface ContextVariableMap {
    /** The bytes of the body once it has been read, if `keepsBody` was set before. */
    body: Uint8Array<ArrayBuffer>;
    /** Off by default: many large bodies held while their requests are handled would exhaust the isolate. */
    keepsBody: boolean;
    /**
     * Called once the whole body has arrived. Each API sets its own function, which takes the time and the caller's
     * rights again: the body can arrive long after the head of the request.
     *
     * @param size of the body in bytes
     */
    onWholeRequest: (size: number) => Promise<void> | void;
  }
}

/**
 * Reads the body. Nothing else may read it, so that no route acts with the time and rights of an incomplete request.
 *
 * @param maxSize in bytes
 * @throws ApiError 415 if the body is encoded, 413 if it is larger, 408 if it takes longer than BODY_TIMEOUT
 */
export async function readBody(c: HonoContext, maxSize: number): Promise<Uint8Array<ArrayBuffer>> {
  if (!/^(identity)?$/i.test(c.req.header("Content-Encoding")?.trim() ?? "")) throw unsupportedEncoding();
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
