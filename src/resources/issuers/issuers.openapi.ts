import type * as z from "zod";
import { onePage, pageOf, type Reference } from "../../openapi/operation.ts";
import { issuerSchema } from "./issuers.responses.ts";

const issuer: z.input<typeof issuerSchema> = {
  id: 4,
  organization_id: 1,
  issuer: "https://login.example.com",
  audience: "video-visits",
  jwks_url: "https://login.example.com/.well-known/jwks.json",
  email_claim: "email",
  created_at: "2026-01-31T09:30:00.000Z",
  updated_at: "2026-01-31T09:30:00.000Z",
};

export const issuersReference: Reference = {
  tag: "Issuers",
  description: "The identity providers with which the users of an organization sign in.",
  schemas: {
    Issuer: {
      schema: issuerSchema,
      description: "An identity provider whose tokens the token exchange accepts for an organization.",
      fields: {
        id: "The id of the registration.",
        organization_id: "The organization that the issuer is registered for.",
        issuer: "The issuer URL: the value of the claim `iss` in its tokens.",
        audience: "The value that the claim `aud` of its tokens must have.",
        jwks_url: "The URL of its public keys (JWKS).",
        email_claim: "The name of the claim with the user's email.",
        created_at: "When the issuer was registered.",
        updated_at: "When the registration last changed.",
      },
    },
  },
  platform: {
    "GET /organizations/:id/issuers": {
      operationId: "listIssuers",
      summary: "List the issuers of an organization",
      description: "The list is ordered by id.",
      status: 200,
      response: {
        schema: pageOf("issuers", issuerSchema),
        example: { issuers: [issuer], pagination: onePage(1) },
      },
    },
    "POST /organizations/:id/issuers": {
      operationId: "createIssuer",
      summary: "Register an issuer for an organization",
      description:
        "One issuer can be registered for several organizations, once for each. `jwks_url` must be https, or http on a loopback host. `email_claim` is `email` by default.",
      status: 201,
      request: {
        fields: {},
        example: {
          issuer: {
            issuer: "https://login.example.com",
            audience: "video-visits",
            jwks_url: "https://login.example.com/.well-known/jwks.json",
          },
        },
      },
      response: { schema: issuerSchema, example: issuer },
      refusals: { 422: "The issuer is already registered for the organization." },
    },
    "DELETE /issuers/:id": {
      operationId: "deleteIssuer",
      summary: "Delete an issuer",
      description: "From now on, the token exchange refuses tokens of this issuer.",
      status: 204,
    },
  },
};
