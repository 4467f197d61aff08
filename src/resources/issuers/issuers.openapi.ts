import type * as z from "zod";
import type { Reference } from "../../openapi/operation.ts";
import { issuerSchema } from "./issuers.schemas.ts";

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
  description: "The identity providers whose tokens an organization's people sign in with.",
  schemas: {
    Issuer: {
      schema: issuerSchema,
      description: "An identity provider that an organization recognizes.",
      fields: {
        id: "Identifies the issuer's registration.",
        organization_id: "The organization that recognizes it.",
        issuer: "The issuer URL: the claim `iss` of its tokens.",
        audience: "The claim `aud` that its tokens must have.",
        jwks_url: "Where its public keys are.",
        email_claim: "The claim that holds the user's email.",
        created_at: "When it was registered.",
        updated_at: "When its registration last changed.",
      },
    },
  },
  platform: {
    "POST /organizations/:id/issuers": {
      operationId: "createIssuer",
      summary: "Register an issuer for an organization",
      description:
        "One issuer may serve several organizations, once each. `jwks_url` is https, or http on a loopback host. `email_claim` is `email` unless told otherwise.",
      status: 201,
      requestExample: {
        issuer: {
          issuer: "https://login.example.com",
          audience: "video-visits",
          jwks_url: "https://login.example.com/.well-known/jwks.json",
        },
      },
      response: { schema: issuerSchema, example: issuer },
      refusals: { 422: "The issuer is already registered for the organization." },
    },
    "DELETE /issuers/:id": {
      operationId: "deleteIssuer",
      summary: "Delete an issuer",
      description: "Its tokens are exchanged no longer, from now on.",
      status: 204,
    },
  },
};
