import * as z from "zod";
import { id, name, timestamp } from "../../http/wire.ts";
import { KEYS_COOLDOWN, KEYS_KNOWN_FOR } from "../../lifetimes.ts";
import * as story from "../../openapi/story.ts";
import { issuerName, jwksUrl } from "./issuers.fields.ts";

export const issuerSchema = z
  .object({
    id: id().meta({ description: "The id of the registration, with which it is deleted.", example: 4 }),
    organization_id: id().meta({
      description: "The organization that the issuer is registered for.",
      example: story.CLINIC.id,
    }),
    issuer: issuerName().meta({
      description:
        "The exact value of the claim `iss` in its tokens, most often a URL. Mind the slash at its end: with and without it are two issuers.",
      example: "https://login.example.com",
    }),
    audience: issuerName().meta({
      description: "The value that the claim `aud` of its tokens has for this service, or has among others.",
      example: "video-visits",
    }),
    jwks_url: jwksUrl().meta({
      description: `The URL at which the identity provider publishes its public keys (JWKS). It must be https, or http on a loopback host, without a user name. The keys are fetched at most every ${KEYS_COOLDOWN / 1000} seconds and at least every ${KEYS_KNOWN_FOR / 60_000} minutes, when somebody signs in.`,
      example: "https://login.example.com/.well-known/jwks.json",
    }),
    email_claim: name().meta({
      description: "The name of the claim with the user's email; `email` if none was chosen.",
      example: "email",
    }),
    created_at: timestamp().meta({
      description: "When the issuer was registered.",
      example: story.SET_UP_AT,
    }),
    updated_at: timestamp().meta({
      description: "The same time: a registration never changes.",
      example: story.SET_UP_AT,
    }),
  })
  .meta({
    id: "Issuer",
    description: "An identity provider whose tokens the token exchange accepts for an organization.",
  });
