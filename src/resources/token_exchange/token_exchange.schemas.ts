import * as z from "zod";

export const tokenExchangeBody = z.object({
  token_exchange: z.object({ token: z.string() }),
});

export const authorizationCodeSchema = z.object({ code: z.string() });
