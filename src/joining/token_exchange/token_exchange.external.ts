import { externalRoutes } from "../../http/external_api.ts";
import { outsideQuotas } from "../../http/quotas.ts";
import { area } from "../../http/scopes.ts";
import { jsonBody } from "../../http/validation.ts";
import { TOKEN_EXCHANGE_BODY_LIMIT } from "../../limits.ts";
import { tokenExchangeBody } from "./token_exchange.schemas.ts";
import { exchangeToken } from "./token_exchange.service.ts";

export const tokenExchangeExternal = externalRoutes().post(
  "/auth/token_exchange",
  area("sign_in"),
  outsideQuotas,
  jsonBody(tokenExchangeBody, { limit: TOKEN_EXCHANGE_BODY_LIMIT }),
  async (c) => {
    const code = await exchangeToken(c.var.context, c.req.valid("json").token_exchange.token);
    return c.json({ code });
  },
);
