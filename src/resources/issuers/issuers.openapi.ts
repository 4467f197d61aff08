import { unprocessable } from "../../http/errors.ts";
import { exampleBody, exampleOf } from "../../openapi/examples.ts";
import { pageResponse, type Reference } from "../../openapi/operation.ts";
import { organizationNotFound } from "../organizations/organizations.refusals.ts";
import { issuerNotFound, issuerRegistered, NOT_TRUSTWORTHY } from "./issuers.refusals.ts";
import { issuerSchema } from "./issuers.responses.ts";
import { createIssuerBody } from "./issuers.schemas.ts";

const issuer = exampleOf(issuerSchema);

/** One that has no claim of the name `email`. */
const directory: typeof issuer = {
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
    "GET /organizations/:organization_id/issuers": {
      operationId: "listIssuers",
      summary: "List the issuers of an organization",
      description: "The list is ordered by id.",
      response: pageResponse("issuers", issuerSchema, {
        "Two identity providers": [issuer, directory],
        "An organization without issuers": [],
      }),
      errors: [organizationNotFound()],
    },
    "POST /organizations/:organization_id/issuers": {
      operationId: "createIssuer",
      summary: "Register an issuer for an organization",
      description:
        "One issuer can be registered for several organizations, once for each. A registration cannot be changed: delete it and register the issuer again. The keys are not fetched now, so a wrong `jwks_url` shows at the first sign-in, as 503 of the token exchange.",
      request: {
        fields: { issuer: "The issuer. Spaces at the ends of its fields are removed." },
        examples: {
          "With the claim `email`": { issuer: { issuer: iss, audience, jwks_url } },
          "With a claim of another name": exampleBody(createIssuerBody(), directory),
        },
      },
      response: {
        schema: issuerSchema,
        examples: { "With the claim `email`": issuer, "With a claim of another name": directory },
      },
      errors: [
        organizationNotFound(),
        issuerRegistered(),
        unprocessable(`issuer.jwks_url: ${NOT_TRUSTWORTHY}`),
      ],
    },
    "DELETE /organizations/:organization_id/issuers/:id": {
      operationId: "deleteIssuer",
      summary: "Delete an issuer",
      description:
        "From now on, the token exchange refuses tokens of this issuer. Codes that it returned before can still be redeemed.",
      parameters: { id: { description: "The id of the registration of the issuer.", example: issuer.id } },
      errors: [issuerNotFound()],
    },
  },
};
