import { TOKEN_CLOCK_TOLERANCE } from "../../lifetimes.ts";
import { exampleOf } from "../../openapi/examples.ts";
import type { Reference } from "../../openapi/operation.ts";
import * as story from "../../openapi/story.ts";
import { invalidToken, inviteNotAccepted, providerUnavailable } from "./token_exchange.refusals.ts";
import { authorizationCodeSchema } from "./token_exchange.responses.ts";

/** Of Paula, for five minutes. */
const TOKEN =
  "eyJhbGciOiJFUzI1NiIsImtpZCI6IjIwMjYtMDEiLCJ0eXAiOiJKV1QifQ.eyJpc3MiOiJodHRwczovL2xvZ2luLmV4YW1wbGUuY29tIiwiYXVkIjoidmlkZW8tdmlzaXRzIiwiZW1haWwiOiJwYXVsYUBleGFtcGxlLmNvbSIsImV4cCI6MTc2OTg1MTI2MH0.YW4gZXhhbXBsZSBvZiBhIHNpZ25hdHVyZSBvZiA2NCBieXRlcywgd2hpY2ggbm9ib2R5IGNhbiB2ZXJpZnkuLg";

const tolerance = `up to ${TOKEN_CLOCK_TOLERANCE / 1000} seconds ahead`;

export const tokenExchangeReference: Reference = {
  tag: "Token exchange",
  description:
    "Single sign-on: users of the organization sign in with its identity provider. Before that, the operator registers the identity provider (its issuer, audience and public keys) for the organization.",
  external: {
    "POST /auth/token_exchange": {
      operationId: "exchangeToken",
      summary: "Exchange a token of an identity provider for an authorization code",
      description: `Your server sends this request when a user wants to enter a call, and then redirects the user's browser to the web app, at once: \`{app_url}/login?code={code}&redirect=/meet/{waiting_room_slug}\`, for example \`https://app.example.com/login?code=${story.AUTHORIZATION_CODE}&redirect=/meet/${story.CARDIOLOGY.slug}\`. The operator tells you the \`app_url\`.

The token is a JWT that the identity provider signed with RS, PS or ES (256, 384 or 512), EdDSA or Ed25519. Its claims:

| Claim | Value |
| --- | --- |
| \`iss\` | The issuer, exactly as it is registered. |
| \`aud\` | The audience that is registered for the issuer, or a list with it. |
| \`exp\` | A time that has not come yet. It is exact. |
| \`email\`, or the claim that is registered for the issuer | The email address of a user of the organization, in upper or lower case. |
| \`email_verified\` | true, if it is there. |
| \`nbf\`, \`iat\` | Past, or ${tolerance}, if they are there. |

A token can be exchanged again until it expires. Each exchange returns a new code.`,
      status: 200,
      request: {
        fields: {
          token_exchange: "The exchange.",
          "token_exchange.token": "The token: three parts in base64url, with dots between them.",
        },
        example: { token_exchange: { token: TOKEN } },
      },
      response: { schema: authorizationCodeSchema, example: exampleOf(authorizationCodeSchema) },
      refusals: {
        401: "`Invalid token`: the token is malformed, forged or expired, its issuer is unknown, its email is not verified, or its email belongs to no user of the organization. The operator finds the exact reason in the service's log, by the `X-Request-Id`. `Please accept your invite`: the user has not accepted the invite yet. If it has expired, send it again with `POST /invites/{id}/resend`.",
        503: "The public keys of the identity provider cannot be fetched, or the response is not a key set.",
      },
      errors: [invalidToken("malformed"), inviteNotAccepted(), providerUnavailable("keys_unreachable")],
    },
  },
};
