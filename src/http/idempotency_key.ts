import type { Context as HonoContext } from "hono";
import { createMiddleware } from "hono/factory";
import * as z from "zod";
import { digestBytes } from "../bytes/digest.ts";
import { hexOf } from "../bytes/hex.ts";
import type { KeyedRequest } from "../context.ts";
import { MAX_IDEMPOTENCY_KEY_LENGTH } from "../limits.ts";
import { lazily } from "../memory.ts";
import { ApiError } from "./errors.ts";
import type { ExternalEnv } from "./hono.ts";
import { IDEMPOTENCY_KEY, type Input } from "./validation.ts";
import { printableAscii } from "./wire.ts";

/** ASCII, as in the standard. Clients encode other characters in different ways, so two keys could become the same. */
const keySchema = lazily(() => printableAscii(MAX_IDEMPOTENCY_KEY_LENGTH));

export const badKey = () =>
  new ApiError(
    400,
    "invalid_idempotency_key",
    `${IDEMPOTENCY_KEY}: must be 1 to ${MAX_IDEMPOTENCY_KEY_LENGTH} printable ASCII characters, for example a UUID`,
  );

const schema = lazily(() => z.object({ [IDEMPOTENCY_KEY]: keySchema().optional() }));

/** A repeated request creates nothing, and gets the same response: see organization/idempotency_keys. */
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
  // The standard quotes the key, and most clients do not. Both forms are the same key.
  const key = /^"(.*)"$/.exec(sent)?.[1] ?? sent;
  if (!keySchema().safeParse(key).success) throw badKey();
  return { key, fingerprint: () => fingerprintOf(c), isReplay: false };
}

async function fingerprintOf({ req, var: { body } }: HonoContext): Promise<string> {
  const request = new Blob([`${req.method} ${new URL(req.url).pathname}\n`, body]);
  return hexOf(await digestBytes(await request.arrayBuffer()));
}
