import type { Reference } from "../../openapi/operation.ts";
import { redeemedCodeSchema } from "./authorization_codes.schemas.ts";

export const authorizationCodesReference: Reference = {
  tag: "Authorization codes",
  description: "How the web app learns who signs in.",
  schemas: {
    RedeemedCode: {
      schema: redeemedCodeSchema,
      description: "Who signed in.",
      fields: {
        organization: "The organization that the user signed in to.",
        user: "The person.",
        organization_user: "The person in this organization, and the roles held there.",
      },
    },
  },
  platform: {
    "POST /authorization_codes/redeem": {
      operationId: "redeemAuthorizationCode",
      summary: "Redeem an authorization code",
      description: "A code is redeemed once: of however many requests at once, one is told who signed in.",
      status: 200,
      requestExample: { code: "YW4tYXV0aG9yaXphdGlvbi1jb2RlLTMyLWJ5dGVzLS0" },
      response: {
        schema: redeemedCodeSchema,
        example: {
          organization: { id: 1, name: "Riverside Clinic", slug: "riverside-clinic" },
          user: { id: 34, email: "paula@example.com", display_name: "Paula Provider" },
          organization_user: { id: 12, roles: ["provider"] },
        },
      },
      refusals: { 401: "`Invalid code`: the code is unknown, used or expired." },
    },
  },
};
