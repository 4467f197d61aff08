import { AUTHORIZATION_CODE_LIFETIME } from "../../lifetimes.ts";
import type { Reference } from "../../openapi/operation.ts";
import * as story from "../../openapi/story.ts";
import { organizationSuspended } from "../../organization/organizations/organizations.refusals.ts";
import { redeemedCodeSchema } from "./authorization_codes.responses.ts";
import { invalidCode } from "./authorization_codes.service.ts";

export const authorizationCodesReference: Reference = {
  tag: "Authorization codes",
  description: "The web app redeems a code from the token exchange to find out who signed in.",
  platform: {
    "POST /authorization_codes/redeem": {
      operationId: "redeemAuthorizationCode",
      summary: "Redeem an authorization code",
      description: `The browser opens the web app with the code in the query of the URL. A code works once, within ${AUTHORIZATION_CODE_LIFETIME / 1000} seconds of the exchange. If several requests send the same code at the same time, only one succeeds. If the response is lost, the user must sign in again.`,
      status: 200,
      request: { fields: { code: "The code, unchanged." }, example: { code: story.AUTHORIZATION_CODE } },
      response: { schema: redeemedCodeSchema },
      refusals: {
        401: "`Invalid code`: the code is unknown, used or expired, or the membership of its user has ended.",
      },
      errors: [invalidCode(), organizationSuspended()],
    },
  },
};
