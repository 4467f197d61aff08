import type { Context as HonoContext } from "hono";
import { createMiddleware } from "hono/factory";
import * as z from "zod";
import { digestBytes } from "../bytes/digest.ts";
import { hexOf } from "../bytes/hex.ts";
import type { KeyedRequest } from "../context.ts";
import { MAX_IDEMPOTENCY_KEY_LENGTH } from "../limits.ts";
import { lazily } from "../memory.ts";
import { ApiError } from "./errors.ts";
import type { ExternalEnv } from "./external_api.ts";
import { IDEMPOTENCY_KEY, type Input } from "./validation.ts";
import { printableAscii } from "./wire.ts";

/** ASCII, as in the standard: clients encode other characters in different ways, so that two keys could become one. */
const keySchema = lazily(() => printableAscii(MAX_IDEMPOTENCY_KEY_LENGTH));

export const BAD_KEY = `${IDEMPOTENCY_KEY}: must be 1 to ${MAX_IDEMPOTENCY_KEY_LENGTH} printable ASCII characters, for example a UUID`;

const schema = lazily(() => z.object({ [IDEMPOTENCY_KEY]: keySchema().optional() }));

/**
 * For routes that make something: a request that is sent again with its `Idempotency-Key` makes nothing, and gets the
 * same response. A bad key is refused before the body is read. The verb does the rest (see resources/idempotency_keys).
 */
export const idempotent = Object.assign(
  createMiddleware<ExternalEnv>(async (c, next) => {
    const sent = c.req.header(IDEMPOTENCY_KEY);
    const keyed = sent === undefined ? undefined : keyedRequest(c, sent);
    if (keyed) c.var.context.keyed = keyed;
    c.set("keepsBody", keyed !== undefined);
    await next();
    if (keyed?.isReplay) c.header("Idempotent-Replayed", "true");
  }),
  { input: { target: "header", schema } satisfies Input },
);

function keyedRequest(c: HonoContext, sent: string): KeyedRequest {
  // The standard puts a key in quotes, and most clients do not: both are the same key.
  const key = /^"(.*)"$/.exec(sent)?.[1] ?? sent;
  if (!keySchema().safeParse(key).success) throw new ApiError(400, BAD_KEY);
  return { key, fingerprint: () => fingerprintOf(c), isReplay: false };
}

/** Method, path and every byte of the body. */
async function fingerprintOf({ req, var: { body } }: HonoContext): Promise<string> {
  const request = new Blob([`${req.method} ${new URL(req.url).pathname}\n`, body]);
  return hexOf(await digestBytes(await request.arrayBuffer()));
}
