import type * as z from "zod";
import { KEYS_COOLDOWN, KEYS_KNOWN_FOR } from "../../limits.ts";
import { onePage, pageOf, type Reference } from "../../openapi/operation.ts";
import { CLINIC, SET_UP_AT } from "../../openapi/story.ts";
import { noOrganization, organizationParameter } from "../organizations/organizations.openapi.ts";
import { issuerSchema } from "./issuers.responses.ts";

const issuer: z.input<typeof issuerSchema> = {
  id: 4,
  organization_id: CLINIC.id,
  issuer: "https://login.example.com",
  audience: "video-visits",
  jwks_url: "https://login.example.com/.well-known/jwks.json",
  email_claim: "email",
  created_at: SET_UP_AT,
  updated_at: SET_UP_AT,
};

/** One that has no claim of the name `email`. */
const directory: z.input<typeof issuerSchema> = {
  ...issuer,
  id: 6,
  issuer: "clinic-directory",
  jwks_url: "https://directory.example.com/keys",
  email_claim: "preferred_username",
};

const { issuer: iss, audience, jwks_url } = issuer;

export const issuersReference: Reference = {
  tag: "Issuers",
  description:
    "The identity providers with which the users of an organization sign in. An organization can have several. The token exchange says what their tokens must have.",
  platform: {
    "GET /organizations/:id/issuers": {
      operationId: "listIssuers",
      summary: "List the issuers of an organization",
      description: "The list is ordered by id.",
      status: 200,
      parameters: { id: organizationParameter },
      response: {
        schema: pageOf("issuers", issuerSchema),
        examples: {
          "Two identity providers": { issuers: [issuer, directory], pagination: onePage(2) },
          "An organization without issuers": { issuers: [], pagination: onePage(0) },
        },
      },
      errors: noOrganization,
    },
    "POST /organizations/:id/issuers": {
      operationId: "createIssuer",
      summary: "Register an issuer for an organization",
      description:
        "One issuer can be registered for several organizations, once for each. A registration cannot be changed: delete it and register the issuer again. The keys are not fetched now, so a wrong `jwks_url` shows at the first sign-in, as 503 of the token exchange.",
      status: 201,
      parameters: { id: organizationParameter },
      request: {
        fields: {
          issuer: "The issuer. Spaces at the ends of its fields are removed.",
          "issuer.issuer":
            "The exact value of the claim `iss` in its tokens, most often a URL. Mind the slash at its end: with and without it are two issuers.",
          "issuer.audience":
            "The value that the claim `aud` of its tokens has for this service, or has among others.",
          "issuer.jwks_url": `The URL at which the identity provider publishes its public keys (JWKS). It must be https, or http on a loopback host, without a user name. The keys are fetched at most every ${KEYS_COOLDOWN / 1000} seconds and at least every ${KEYS_KNOWN_FOR / 60_000} minutes, when somebody signs in.`,
          "issuer.email_claim":
            "The name of the claim with the user's email. Without this field, it is `email`.",
        },
        examples: {
          "With the claim `email`": { issuer: { issuer: iss, audience, jwks_url } },
          "With a claim of another name": {
            issuer: {
              issuer: directory.issuer,
              audience,
              jwks_url: directory.jwks_url,
              email_claim: directory.email_claim,
            },
          },
        },
      },
      response: {
        schema: issuerSchema,
        examples: { "With the claim `email`": issuer, "With a claim of another name": directory },
      },
      errors: {
        ...noOrganization,
        422: [
          "issuer.issuer: is already registered for the organization; to change it, delete it first",
          "issuer.jwks_url: must be an https URL, or an http one on a loopback host",
        ],
      },
    },
    "DELETE /issuers/:id": {
      operationId: "deleteIssuer",
      summary: "Delete an issuer",
      description:
        "From now on, the token exchange refuses tokens of this issuer. Codes that it returned before can still be redeemed.",
      status: 204,
      parameters: { id: { description: "The id of the registration of the issuer.", example: issuer.id } },
      errors: { 404: ["Issuer not found"] },
    },
  },
};
