import * as z from "zod";
import { base64Url, id, reference } from "../../http/wire.ts";
import { AUTHORIZATION_CODE_LIFETIME } from "../../lifetimes.ts";
import { MAX_TOKEN_LENGTH } from "../../limits.ts";
import * as story from "../../openapi/story.ts";
import { CHECK_REASONS } from "./token_exchange.refusals.ts";

const claim = (description: string, example: string) =>
  reference(MAX_TOKEN_LENGTH).nullable().meta({ description, example });

export const tokenCheckSchema = z
  .object({
    issuer: claim(
      "The claim `iss`. null, like the other claims, unless the issuer is registered for your organization.",
      "https://login.example.com",
    ),
    audience: claim(
      "The claim `aud`; of several, the one that is registered, or else the first.",
      "video-visits",
    ),
    email: claim("The claim with the email, as it is registered for the issuer.", story.PAULA.email),
    organization_user_id: id().nullable().meta({
      description:
        "The organization user with this email, also if the membership has ended; null if there is none.",
      example: story.PAULA.id,
    }),
    reason: z
      .enum(CHECK_REASONS)
      .nullable()
      .describe(
        "Why the token would be refused; null if it would be accepted. `malformed`: it is not a signed JWT with the claims `iss`, `aud` and `exp`. `issuer_unknown`, `audience_wrong`: the claim differs from what the operator registered. `expired`, `not_yet_valid`: its times do not include the present one. `keys_unavailable`: the provider's keys cannot be fetched or used. `signature_invalid`: none of these keys has signed it with an accepted algorithm. `email_missing`: the claim with the email is missing, or is not an email. `email_unverified`: `email_verified` is not true. `invite_pending`: the person has not accepted their invite. `membership_ended`: the person is not a user of your organization any more. `user_unknown`: nobody in your organization has this email.",
      ),
  })
  .meta({ id: "TokenCheck", description: "What a token claims, and why its exchange would be refused." });

export type TokenCheck = z.output<typeof tokenCheckSchema>;

export const authorizationCodeSchema = z
  .object({
    code: base64Url(43).meta({
      description: `The code. It works once, within ${AUTHORIZATION_CODE_LIFETIME / 1000} seconds.`,
      example: story.AUTHORIZATION_CODE,
    }),
  })
  .meta({ id: "AuthorizationCode", description: "A code that signs a browser in to the web app." });
