import * as z from "zod";
import { AUTHORIZATION_CODE_LIFETIME } from "../../limits.ts";
import { base64Url } from "../../openapi/shapes.ts";

export const authorizationCodeSchema = z
  .object({
    code: base64Url(43).describe(
      `The code. It works once, within ${AUTHORIZATION_CODE_LIFETIME / 1000} seconds.`,
    ),
  })
  .meta({ id: "AuthorizationCode", description: "A code with which a browser signs in to the web app." });
