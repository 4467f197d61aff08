import * as z from "zod";
import { base64Url } from "../../http/wire.ts";
import { AUTHORIZATION_CODE_LIFETIME } from "../../lifetimes.ts";
import * as story from "../../openapi/story.ts";

export const authorizationCodeSchema = z
  .object({
    code: base64Url(43).meta({
      description: `The code. It works once, within ${AUTHORIZATION_CODE_LIFETIME / 1000} seconds.`,
      example: story.AUTHORIZATION_CODE,
    }),
  })
  .meta({ id: "AuthorizationCode", description: "A code that signs a browser in to the web app." });
