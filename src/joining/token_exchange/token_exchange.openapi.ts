import { TOKEN_CLOCK_TOLERANCE } from "../../lifetimes.ts";
import { exampleOf } from "../../openapi/examples.ts";
import type { Reference } from "../../openapi/operation.ts";
import * as story from "../../openapi/story.ts";
import { invalidToken, inviteNotAccepted, providerUnavailable } from "./token_exchange.refusals.ts";
import { authorizationCodeSchema, tokenCheckSchema } from "./token_exchange.responses.ts";

/** A token for Paula, valid for five minutes. */
const TOKEN =
  "eyJhbGciOiJFUzI1NiIsImtpZCI6IjIwMjYtMDEiLCJ0eXAiOiJKV1QifQ.eyJpc3MiOiJodHRwczovL2xvZ2luLmV4YW1wbGUuY29tIiwiYXVkIjoidmlkZW8tdmlzaXRzIiwiZW1haWwiOiJwYXVsYUBleGFtcGxlLmNvbSIsImV4cCI6MTc2OTg1MTI2MH0.YW4gZXhhbXBsZSBvZiBhIHNpZ25hdHVyZSBvZiA2NCBieXRlcywgd2hpY2ggbm9ib2R5IGNhbiB2ZXJpZnkuLg";

const tolerance = `up to ${TOKEN_CLOCK_TOLERANCE / 1000} seconds ahead`;

export const tokenExchangeReference: Reference = {
  tag: "Token exchange",
  description:
    "Single sign-on: users of the organization sign in with its identity provider. The operator must first register the identity provider (its issuer, audience and public keys) for the organization.",
  external: {
    "POST /auth/token_exchange": {
      operationId: "exchangeToken",
      summary: "Exchange a token of an identity provider for an authorization code",
      description: `When a user wants to enter a call, your server sends this request and immediately redirects the user's browser to the web app: \`{app_url}/login?code={code}&redirect=/meet/{waiting_room_slug}\`, for example \`${story.APP_URL}/login?code=${story.AUTHORIZATION_CODE}&redirect=/meet/${story.CARDIOLOGY.slug}\`. \`GET /organization\` shows the \`app_url\`.

The token is a JWT signed by the identity provider with RS, PS or ES (256, 384 or 512), EdDSA or Ed25519. Its claims:

| Claim | Value |
| --- | --- |
| \`iss\` | The issuer, exactly as it is registered. |
| \`aud\` | The audience registered for the issuer, or a list that contains it. |
| \`exp\` | A time in the future, without tolerance. |
| \`email\`, or the claim registered for the issuer | The email address of a user of the organization, in upper or lower case: a string, or a list of exactly one string. |
| \`email_verified\` | true, if present. Checked only for the claim \`email\`, and not if the operator has turned the check off for the issuer. |
| \`nbf\`, \`iat\` | In the past, or ${tolerance}, if present. |

A token can be exchanged again until it expires. Each exchange returns a new code.

The access log records each exchange (\`sign_in\`; once a minute for the same person and API client) and each properly signed but refused token (\`sign_in_refused\`).`,
      status: 200,
      request: {
        fields: {
          token_exchange: "The exchange.",
          "token_exchange.token": "The token: three base64url parts, separated by dots.",
        },
        example: { token_exchange: { token: TOKEN } },
      },
      response: { schema: authorizationCodeSchema },
      refusals: {
        401: "`Invalid token`: the token is malformed, forged or expired, its issuer is unknown, its email is not verified, or its email does not belong to a user of the organization. An administrator finds the exact reason with `POST /token_checks`, the operator in the service's log. `Please accept your invite`: the user has not accepted the invite yet. If the invite has expired, send it again with `POST /invites/{id}/resend`.",
        503: "The identity provider's public keys cannot be fetched, or are not a key set.",
      },
      errors: [invalidToken("malformed"), inviteNotAccepted(), providerUnavailable("keys_unreachable")],
    },
    "POST /token_checks": {
      operationId: "checkToken",
      summary: "Find out why a token is refused",
      description:
        "Checks a token as the exchange does, and says what is wrong with it. Nothing is exchanged, and the access log gets no entry.",
      status: 200,
      request: {
        fields: { token_check: "The check.", "token_check.token": "The token to check." },
        example: { token_check: { token: TOKEN } },
      },
      response: {
        schema: tokenCheckSchema,
        examples: {
          "The token would be accepted": exampleOf(tokenCheckSchema),
          "The token is of another application": {
            ...exampleOf(tokenCheckSchema),
            audience: "other-application",
            reason: "audience_wrong",
          },
        },
      },
    },
  },
};
