import * as z from "zod";
import { reference } from "../../http/wire.ts";
import { MAX_TOKEN_LENGTH } from "../../limits.ts";
import { lazily } from "../../memory.ts";

const withToken = lazily(() => z.object({ token: reference(MAX_TOKEN_LENGTH) }));

export const tokenExchangeBody = lazily(() => z.object({ token_exchange: withToken() }));

export const tokenCheckBody = lazily(() => z.object({ token_check: withToken() }));
