import * as z from "zod";
import { id, name, timestamp } from "../../http/wire.ts";
import { KEYS_COOLDOWN, KEYS_KNOWN_FOR } from "../../lifetimes.ts";
import { field } from "../../openapi/schemas.ts";
import * as story from "../../openapi/story.ts";
import { issuerName, jwksUrl } from "./issuers.schemas.ts";

export const issuerSchema = z
  .object({
    id: id().meta({ description: "The id of the registration. Use it to delete the issuer.", example: 4 }),
    organization_id: field(id(), "The organization that the issuer is registered for.", story.CLINIC.id),
    issuer: issuerName().meta({
      description:
        "The exact value of the claim `iss` in the issuer's tokens, usually a URL. A trailing slash matters: a URL with it and the same URL without it are two issuers.",
      example: "https://login.example.com",
    }),
    audience: issuerName().meta({
      description:
        "The value that identifies this service in the claim `aud` of the issuer's tokens. The claim can contain other values too.",
      example: "video-visits",
    }),
    jwks_url: jwksUrl().meta({
      description: `The URL at which the identity provider publishes its public keys (JWKS). It must be https, or http on a loopback host, without a user name. The keys are fetched when someone signs in, at most every ${KEYS_COOLDOWN / 1000} seconds and at least every ${KEYS_KNOWN_FOR / 60_000} minutes.`,
      example: "https://login.example.com/.well-known/jwks.json",
    }),
    email_claim: name().meta({
      description:
        "The name of the claim with the user's email; `email` by default. The claim's value must be a string, or a list of exactly one string.",
      example: "email",
    }),
    require_verified_email: z.boolean().meta({
      description:
        "Whether a token is refused if its claim `email_verified` is present and not true; true by default. It applies only if `email_claim` is `email`, because `email_verified` is about no other claim. Set it to false for identity providers whose users cannot choose their email.",
      example: true,
    }),
    created_at: field(timestamp(), "When the issuer was registered.", story.SET_UP_AT),
    updated_at: timestamp().describe("Equal to `created_at`, because a registration never changes."),
  })
  .meta({
    id: "Issuer",
    description: "An identity provider whose tokens the token exchange accepts for an organization.",
  });
