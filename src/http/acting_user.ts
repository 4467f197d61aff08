import type { Context as HonoContext } from "hono";
import { createMiddleware } from "hono/factory";
import * as z from "zod";
import type { ClientContext, Requester } from "../context.ts";
import { primaryOf } from "../database/database.ts";
import { PURPOSES_OF_USE } from "../database/enums.ts";
import { MAX_ACTING_USER_LENGTH } from "../limits.ts";
import { lazily } from "../memory.ts";
import { ApiError } from "./errors.ts";
import type { ApiEnv } from "./hono.ts";
import { printableAscii } from "./wire.ts";

/*
 * For whom a client asks, and why: what the access log says beside the client itself. Every external request may say it, and
 * what it says is checked on every one.
 */

export const ACTING_USER = "X-Acting-User";

export const PURPOSE_OF_USE = "X-Purpose-Of-Use";

const BAD_ACTING_USER = `${ACTING_USER}: must be 1 to ${MAX_ACTING_USER_LENGTH} printable ASCII characters, for example your own id of the person`;

const BAD_PURPOSE = `${PURPOSE_OF_USE}: must be one of ${PURPOSES_OF_USE.join(", ")}`;

export const BAD_ACTING_HEADERS = [BAD_ACTING_USER, BAD_PURPOSE];

/** What is read here is recorded, and the organization wants to know for whom. */
export const NOBODY_ACTS = `${ACTING_USER} and ${PURPOSE_OF_USE}: are required for what the access log records, because the organization wants to know who reads it, and why`;

/** An id in another system. */
export const actingUser = lazily(() => printableAscii(MAX_ACTING_USER_LENGTH));

/** The headers as the reference describes them. */
export const actingHeaders = lazily(() =>
  z.object({ [ACTING_USER]: actingUser().optional(), [PURPOSE_OF_USE]: z.enum(PURPOSES_OF_USE).optional() }),
);

/** @throws ApiError 400 if one of the headers is at fault */
export function readActingUser({ req }: HonoContext): Pick<Requester, "acting_user" | "purpose"> {
  const { shape } = actingHeaders();
  const acting_user = shape[ACTING_USER].safeParse(req.header(ACTING_USER));
  if (!acting_user.success) throw new ApiError(400, BAD_ACTING_USER);
  const purpose = shape[PURPOSE_OF_USE].safeParse(req.header(PURPOSE_OF_USE));
  if (!purpose.success) throw new ApiError(400, BAD_PURPOSE);
  return { acting_user: acting_user.data ?? null, purpose: purpose.data ?? null };
}

/**
 * For routes whose reads the access log records. The entry is written in the transaction of the read, so the primary is asked,
 * whatever bookmark is sent.
 *
 * @throws ApiError 400 if the organization wants to know for whom, and the request does not say it
 */
export const recordedRead = Object.assign(
  createMiddleware<ApiEnv<ClientContext>>(async (c, next) => {
    const { context } = c.var;
    const { acting_user, purpose } = context.requester;
    if (context.caller.require_acting_user && (acting_user === null || purpose === null))
      throw new ApiError(400, NOBODY_ACTS);
    context.db = primaryOf(context.db);
    await next();
  }),
  { isRecorded: true },
);
