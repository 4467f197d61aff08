import * as z from "zod";
import { MAX_ISSUER_LENGTH } from "../../limits.ts";
import { id, line, timestamp } from "../../openapi/shapes.ts";

export const issuerSchema = z
  .object({
    id: id().describe("The id of the registration, with which it is deleted."),
    organization_id: id().describe("The organization that the issuer is registered for."),
    issuer: line(MAX_ISSUER_LENGTH).describe("The value of the claim `iss` in its tokens."),
    audience: line(MAX_ISSUER_LENGTH).describe("The value that the claim `aud` of its tokens must have."),
    jwks_url: z.url().max(MAX_ISSUER_LENGTH).describe("The URL of its public keys (JWKS)."),
    email_claim: line().describe("The name of the claim with the user's email."),
    created_at: timestamp().describe("When the issuer was registered."),
    updated_at: timestamp().describe("The same time: a registration never changes."),
  })
  .meta({
    id: "Issuer",
    description: "An identity provider whose tokens the token exchange accepts for an organization.",
  });
