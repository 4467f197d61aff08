import * as z from "zod";
import { base64Url, id, name, timestamp } from "../../http/wire.ts";
import * as story from "../../openapi/story.ts";

export const apiClientSchema = z
  .object({
    id: id().meta({ description: "The id of the API client, with which it is revoked.", example: 5 }),
    name: name().meta({
      description:
        "A name by which people know the API client, without spaces at its ends. Several can have the same name.",
      example: "Scheduling system",
    }),
    organization_user_id: id().meta({
      description:
        "The organization user as whom the client acts: an `id` of the list of the organization's users. The client can do what the roles of this user allow, also when they change: for a client that serves the whole organization, choose an organization_admin. When the membership ends, the client is revoked.",
      example: story.OLGA.id,
    }),
    client_id: base64Url(22).meta({
      description: "The value for the header `X-Client-ID`.",
      example: "Y2xpZW50LWlkLW9mLTE2LQ",
    }),
    revoked_at: timestamp().nullable().meta({
      description: "When the API client was revoked; null while it is in use.",
      example: null,
    }),
  })
  .meta({ id: "ApiClient", description: "An API client of an organization, without its secret." });

export const issuedApiClientSchema = apiClientSchema
  .omit({ revoked_at: true })
  .extend({
    client_secret: base64Url(43).meta({
      description: "The value for the header `X-Client-Secret`. It is shown only in this response: keep it.",
      example: "YS1jbGllbnQtc2VjcmV0LXRoYXQtaXMtMzItYnl0ZXM",
    }),
  })
  .meta({
    id: "IssuedApiClient",
    description: "The credentials with which an organization calls the external API.",
  });
