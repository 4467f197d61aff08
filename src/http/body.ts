import type { Context as HonoContext } from "hono";
import { createMiddleware } from "hono/factory";
import { BODY_GRACE, BODY_RESERVED_FOR, BODY_TIMEOUT } from "../lifetimes.ts";
import { MIN_BODY_RATE } from "../limits.ts";
import { MAX_BODIES_SIZE, MIN_BODY_RESERVATION } from "../tuning.ts";
import { SECOND } from "../units.ts";
import { bodyTooLarge, bodyTooSlow, tooManyBodies, unsupportedEncoding } from "./errors.ts";

declare module "hono" {
  interface ContextVariableMap {
    /** Set once the body has been read, if `keepsBody` was set before. */
    body: Uint8Array<ArrayBuffer>;
    /** Off by default: many large bodies held while their requests are handled would exhaust the isolate. */
    keepsBody: boolean;
    /** The organization or address whose share of the isolate's memory the body takes. */
    bodyOwner: string | number;
    /** Called before the first byte is read, with the size that the body may have. */
    beforeBody?: (size: number) => Promise<void>;
    releaseBody?: () => void;
    /** Called once the whole body has arrived, with its size, to take the time and the caller's rights again. */
    onWholeRequest: (size: number) => Promise<void> | void;
  }
}

const reservations = new Set<{ owner: string | number; size: number; until: number }>();

/** A parsed body takes more memory than its bytes, so its reservation lasts until the request is answered. */
export const releasingBody = createMiddleware(async (c, next) => {
  try {
    await next();
  } finally {
    c.var.releaseBody?.();
    const { body, bodyUsed } = c.req.raw;
    // A refused request's body: otherwise the caller gets the response only when all of it has arrived.
    if (body && !bodyUsed) body.cancel().catch(() => {});
  }
});

/**
 * Nothing else may read a body, so that no route acts with the time and rights of an incomplete request.
 *
 * @param maxSize in bytes
 * @throws ApiError 415 if the body is encoded, 413 if it is too large, 503 without memory for it, 408 if it is too slow
 */
export async function readBody(c: HonoContext, maxSize: number): Promise<Uint8Array<ArrayBuffer>> {
  if (!/^(identity)?$/i.test(c.req.header("Content-Encoding")?.trim() ?? "")) throw unsupportedEncoding();
  const size = Number(c.req.header("Content-Length") ?? maxSize);
  if (!(size <= maxSize)) throw bodyTooLarge(maxSize);
  const stream = c.req.raw.body;
  if (stream) {
    await c.var.beforeBody?.(size);
    c.set("releaseBody", reserve(c.var.bodyOwner, Math.max(size, MIN_BODY_RESERVATION)));
  }
  const body = stream ? await allBytes(stream, size) : new Uint8Array();
  if (c.var.keepsBody) c.set("body", body);
  await c.var.onWholeRequest(body.length);
  return body;
}

/**
 * A third of the free memory for each owner, so that some remains for the next, however many there are.
 *
 * @throws ApiError 503
 */
function reserve(owner: string | number, size: number): () => void {
  const now = Date.now();
  let own = size;
  let free = MAX_BODIES_SIZE - size;
  for (const each of reservations) {
    // Nothing releases the body of a request that the runtime drops because its caller has gone.
    if (each.until <= now) reservations.delete(each);
    else {
      free -= each.size;
      if (each.owner === owner) own += each.size;
    }
  }
  if (own > free / 3) throw tooManyBodies();
  const reservation = { owner, size, until: now + BODY_RESERVED_FOR };
  reservations.add(reservation);
  return () => reservations.delete(reservation);
}

async function allBytes(body: ReadableStream<Uint8Array>, size: number) {
  const reader = body.getReader();
  const whole = new Uint8Array(size);
  let end = 0;
  let passed = 0;
  let giveUp = (_: Error) => {};
  const timer = setInterval(() => {
    passed += SECOND;
    const least = ((passed - BODY_GRACE) / SECOND) * MIN_BODY_RATE;
    if (passed >= BODY_TIMEOUT || end < least) giveUp(bodyTooSlow());
  }, SECOND);
  try {
    for (;;) {
      // Not Promise.race: it would keep each chunk until the last one.
      const { done, value } = await new Promise<ReadableStreamReadResult<Uint8Array>>((resolve, reject) => {
        giveUp = reject;
        reader.read().then(resolve, reject);
      });
      if (done) return whole.subarray(0, end);
      if (end + value.length > size) throw bodyTooLarge(size);
      whole.set(value, end);
      end += value.length;
    }
  } catch (error) {
    reader.cancel().catch(() => {});
    throw error;
  } finally {
    clearInterval(timer);
  }
}
