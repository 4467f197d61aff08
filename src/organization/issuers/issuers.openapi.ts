import { invalidBody } from "../../http/errors.ts";
import { exampleOf } from "../../openapi/examples.ts";
import { pageResponse, type Reference } from "../../openapi/operation.ts";
import { organizationNotFound } from "../organizations/organizations.refusals.ts";
import { issuerNotFound, issuerRegistered, NOT_TRUSTWORTHY } from "./issuers.merge.ts";
import { issuerSchema } from "./issuers.responses.ts";

export const issuersReference: Reference = {
  tag: "Issuers",
  description:
    "The identity providers that the users of an organization sign in with. An organization can have several. For the claims that their tokens need, see the token exchange.",
  platform: {
    "GET /organizations/:organization_id/issuers": {
      operationId: "listIssuers",
      summary: "List the issuers of an organization",
      description: "The list is ordered by id.",
      response: pageResponse("issuers", issuerSchema),
      errors: [organizationNotFound()],
    },
    "POST /organizations/:organization_id/issuers": {
      operationId: "createIssuer",
      summary: "Register an issuer for an organization",
      description:
        "An issuer can be registered for several organizations, and with several audiences for one organization. A registration cannot be changed: delete it and register the issuer again. The keys are not fetched yet, so a wrong `jwks_url` only shows at the first sign-in, when the token exchange returns 503.",
      request: { fields: { issuer: "The issuer. Leading and trailing spaces are removed from its fields." } },
      response: { schema: issuerSchema },
      errors: [
        organizationNotFound(),
        issuerRegistered(),
        invalidBody(`issuer.jwks_url: ${NOT_TRUSTWORTHY}`),
      ],
    },
    "DELETE /organizations/:organization_id/issuers/:id": {
      operationId: "deleteIssuer",
      summary: "Delete an issuer",
      description:
        "The token exchange then refuses tokens of this issuer. Codes that it has already returned can still be redeemed.",
      parameters: {
        id: { description: "The id of the issuer's registration.", example: exampleOf(issuerSchema).id },
      },
      errors: [issuerNotFound()],
    },
  },
};
