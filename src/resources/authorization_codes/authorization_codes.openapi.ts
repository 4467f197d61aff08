import type { Reference } from "../../openapi/operation.ts";
import { redeemedCodeSchema } from "./authorization_codes.responses.ts";

export const authorizationCodesReference: Reference = {
  tag: "Authorization codes",
  description: "With a code from the token exchange, the web app finds out who signed in.",
  schemas: {
    RedeemedCode: {
      schema: redeemedCodeSchema,
      description: "The user who signed in.",
      fields: {
        organization: "The organization that the user signed in to.",
        user: "The user.",
        organization_user: "The user's membership of this organization, with its roles.",
      },
    },
  },
  platform: {
    "POST /authorization_codes/redeem": {
      operationId: "redeemAuthorizationCode",
      summary: "Redeem an authorization code",
      description:
        "A code works once. If several requests send the same code at the same time, only one of them succeeds.",
      status: 200,
      request: { fields: {}, example: { code: "YW4tYXV0aG9yaXphdGlvbi1jb2RlLTMyLWJ5dGVzLS0" } },
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
