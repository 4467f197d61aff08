import { AUTHORIZATION_CODE_LIFETIME } from "../../limits.ts";
import type { Reference } from "../../openapi/operation.ts";
import { authorizationCodeSchema } from "./token_exchange.schemas.ts";

export const tokenExchangeReference: Reference = {
  tag: "Token exchange",
  description: "How the organization's people sign in from their identity provider.",
  schemas: {
    AuthorizationCode: {
      schema: authorizationCodeSchema,
      description: "What a browser signs in with.",
      fields: {
        code: `Good for one sign-in, within ${AUTHORIZATION_CODE_LIFETIME / 1000} seconds.`,
      },
    },
  },
  external: {
    "POST /auth/token_exchange": {
      operationId: "exchangeToken",
      summary: "Exchange a token of an identity provider for an authorization code",
      description:
        "The token is a JWT of an issuer that the operator registered for the organization, with `iss`, `aud` and `exp`, signed with an asymmetric algorithm. Redirect the user's browser to `{app_url}/login?code={code}&redirect=/meet/{waiting_room_slug}`.",
      status: 200,
      requestExample: {
        token_exchange: { token: "eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.eyJpc3MiOi4uLn0.c2lnbmF0dXJl" },
      },
      response: {
        schema: authorizationCodeSchema,
        example: { code: "YW4tYXV0aG9yaXphdGlvbi1jb2RlLTMyLWJ5dGVzLS0" },
      },
      refusals: {
        401: "`Invalid token`: the token is malformed, forged or expired, is of an unknown issuer, or names nobody in the organization. `Please accept your invite`: the user's invite is pending.",
        503: "The identity provider's keys cannot be had; `Retry-After` says when to try again.",
      },
    },
  },
};
