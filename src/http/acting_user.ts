import type { Context as HonoContext } from "hono";
import { createMiddleware } from "hono/factory";
import * as z from "zod";
import type { ClientContext, Requester } from "../context.ts";
import { PURPOSES_OF_USE } from "../database/enums.ts";
import { MAX_ACTING_USER_LENGTH } from "../limits.ts";
import { lazily } from "../memory.ts";
import { ApiError } from "./errors.ts";
import type { ApiEnv } from "./hono.ts";
import { printableAscii } from "./wire.ts";

/* The person for whom a client asks, and why. Any external request may say so, and the access log records it. */

export const ACTING_USER = "X-Acting-User";

export const PURPOSE_OF_USE = "X-Purpose-Of-Use";

const badActingUser = () =>
  new ApiError(
    400,
    "invalid_acting_user",
    `${ACTING_USER}: must be 1 to ${MAX_ACTING_USER_LENGTH} printable ASCII characters, for example your own id of the person`,
  );

const badPurpose = () =>
  new ApiError(
    400,
    "invalid_purpose_of_use",
    `${PURPOSE_OF_USE}: must be one of ${PURPOSES_OF_USE.join(", ")}`,
  );

export const badActingHeaders = () => [badActingUser(), badPurpose()];

export const nobodyActs = () =>
  new ApiError(
    400,
    "acting_user_required",
    `${ACTING_USER} and ${PURPOSE_OF_USE}: are required for reads that the access log records, because the organization wants to know who reads its data, and why`,
  );

export const actingUser = lazily(() => printableAscii(MAX_ACTING_USER_LENGTH));

export const actingHeaders = lazily(() =>
  z.object({ [ACTING_USER]: actingUser().optional(), [PURPOSE_OF_USE]: z.enum(PURPOSES_OF_USE).optional() }),
);

export function readActingUser({ req }: HonoContext): Pick<Requester, "acting_user" | "purpose"> {
  const { shape } = actingHeaders();
  const acting_user = shape[ACTING_USER].safeParse(req.header(ACTING_USER));
  if (!acting_user.success) throw badActingUser();
  const purpose = shape[PURPOSE_OF_USE].safeParse(req.header(PURPOSE_OF_USE));
  if (!purpose.success) throw badPurpose();
  return { acting_user: acting_user.data ?? null, purpose: purpose.data ?? null };
}

/**
 * For reads that the access log records, in their own transaction.
 *
 * @throws ApiError 400 if a required header is missing
 */
export const recordedRead = Object.assign(
  createMiddleware<ApiEnv<ClientContext>>(async (c, next) => {
    const { context } = c.var;
    const { acting_user, purpose } = context.requester;
    if (context.caller.require_acting_user && (acting_user === null || purpose === null)) throw nobodyActs();
    await next();
  }),
  { isRecorded: true, reads: "primary" },
);

export const recordedReadIf = (condition: (c: HonoContext) => boolean | undefined) =>
  Object.assign(
    createMiddleware<ApiEnv<ClientContext>>((c, next) => (condition(c) ? recordedRead(c, next) : next())),
    { isRecorded: true },
  );
