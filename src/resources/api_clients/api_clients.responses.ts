import * as z from "zod";
import { base64Url, id, line, timestamp } from "../../openapi/shapes.ts";

const fields = () => ({
  id: id().describe("The id of the API client, with which it is revoked."),
  name: line().describe("The name of the API client, for people."),
  organization_user_id: id().describe(
    "The organization user as whom the client acts. The client has the roles that this user has at the time.",
  ),
  client_id: base64Url(22).describe("The value for the header `X-Client-ID`."),
});

export const apiClientSchema = z
  .object({
    ...fields(),
    revoked_at: timestamp().nullable().describe("When the API client was revoked; null while it is in use."),
  })
  .meta({ id: "ApiClient", description: "An API client of an organization, without its secret." });

export const issuedApiClientSchema = z
  .object({
    ...fields(),
    client_secret: base64Url(43).describe(
      "The value for the header `X-Client-Secret`. It is shown only in this response: keep it.",
    ),
  })
  .meta({
    id: "IssuedApiClient",
    description: "The credentials with which an organization calls the external API.",
  });
