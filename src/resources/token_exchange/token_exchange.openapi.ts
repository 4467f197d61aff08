import { AUTHORIZATION_CODE_LIFETIME } from "../../limits.ts";
import type { Reference } from "../../openapi/operation.ts";
import { authorizationCodeSchema } from "./token_exchange.responses.ts";

export const tokenExchangeReference: Reference = {
  tag: "Token exchange",
  description: "Single sign-on: users of the organization sign in with their identity provider.",
  schemas: {
    AuthorizationCode: {
      schema: authorizationCodeSchema,
      description: "A code with which a browser signs in to the web app.",
      fields: {
        code: `The code. It works once, within ${AUTHORIZATION_CODE_LIFETIME / 1000} seconds.`,
      },
    },
  },
  external: {
    "POST /auth/token_exchange": {
      operationId: "exchangeToken",
      summary: "Exchange a token of an identity provider for an authorization code",
      description:
        "The token is a JWT from an issuer that the operator registered for the organization. It needs the claims `iss`, `aud` and `exp` and the claim with the user's email, and must be signed with RS, PS or ES (256, 384, 512) or EdDSA. Its `exp` is exact; `nbf` and `iat` may be up to 60 seconds ahead. It can be exchanged again until it expires; each exchange returns a new code. Then redirect the user's browser to `{app_url}/login?code={code}&redirect=/meet/{waiting_room_slug}`.",
      status: 200,
      request: {
        fields: {},
        example: {
          token_exchange: { token: "eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.eyJpc3MiOi4uLn0.c2lnbmF0dXJl" },
        },
      },
      response: {
        schema: authorizationCodeSchema,
        example: { code: "YW4tYXV0aG9yaXphdGlvbi1jb2RlLTMyLWJ5dGVzLS0" },
      },
      refusals: {
        401: "`Invalid token`: the token is malformed, forged or expired, its issuer is unknown, its email is not verified, or its email belongs to no user of the organization. `Please accept your invite`: the user has not accepted the invite yet, even if it has expired.",
        503: "The identity provider's keys cannot be fetched. `Retry-After` says when to try again.",
      },
    },
  },
};
