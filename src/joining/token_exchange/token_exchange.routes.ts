import * as z from "zod";
import { externalRoutes } from "../../http/hono.ts";
import { inReserve } from "../../http/quotas.ts";
import { adminArea, area } from "../../http/scopes.ts";
import { jsonBody } from "../../http/validation.ts";
import { reference } from "../../http/wire.ts";
import { MAX_TOKEN_LENGTH, TOKEN_EXCHANGE_BODY_LIMIT } from "../../limits.ts";
import { checkToken, exchangeToken } from "./token_exchange.service.ts";

const withToken = () => z.object({ token: reference(MAX_TOKEN_LENGTH) });

const tokenExchangeBody = () => z.object({ token_exchange: withToken() });

const tokenCheckBody = () => z.object({ token_check: withToken() });

const limit = TOKEN_EXCHANGE_BODY_LIMIT;

export const tokenExchangeExternal = externalRoutes()
  .post(
    "/auth/token_exchange",
    area("sign_in"),
    inReserve("sign_ins"),
    jsonBody(tokenExchangeBody, { limit }),
    async (c) => {
      const code = await exchangeToken(c.var.context, c.req.valid("json").token_exchange.token);
      return c.json({ code });
    },
  )
  .post("/token_checks", adminArea("organization:read"), jsonBody(tokenCheckBody, { limit }), async (c) =>
    c.json(await checkToken(c.var.context, c.req.valid("json").token_check.token)),
  );
