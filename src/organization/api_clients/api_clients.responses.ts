import * as z from "zod";
import { SCOPES } from "../../database/enums.ts";
import { base64Url, id, name, timestamp } from "../../http/wire.ts";
import { CLIENT_SECRET_PREFIX, SECRET_HINT_LENGTH } from "../../limits.ts";
import { field, named } from "../../openapi/schemas.ts";
import * as story from "../../openapi/story.ts";
import { roleList } from "../roles/roles.responses.ts";
import { scopeName } from "./api_clients.schemas.ts";

const SECRET = `${CLIENT_SECRET_PREFIX}YS1jbGllbnQtc2VjcmV0LXRoYXQtaXMtMzItYnl0ZXM`;

export const apiClientSchema = named("ApiClient", "An API client of an organization, without its secret.", {
  id: field(id(), "The id of the API client. Use it to revoke the client.", story.API_CLIENT.id),
  name: name().meta({
    description:
      "A name that helps people recognize the API client, without leading or trailing spaces. Several clients can have the same name.",
    example: story.API_CLIENT.name,
  }),
  organization_user_id: id().meta({
    description:
      "The organization user that the client acts as: an `id` from the list of the organization's users. The client can do what this user's current roles allow. For a client that serves the whole organization, choose an organization_admin. When the membership ends, the client is revoked.",
    example: story.OLGA.id,
  }),
  client_id: field(base64Url(22), "The value for the header `X-Client-ID`.", story.API_CLIENT.client_id),
  scopes: z
    .array(scopeName())
    .min(1)
    .max(SCOPES.length)
    .nullable()
    .meta({
      description:
        "The client's permissions, within those that its user's roles grant; `write` includes `read`. The reference names the scope of each operation. null: everything that the roles allow.",
      example: ["rooms:write", "visits:write"],
    }),
  expires_at: timestamp().nullable().meta({
    description: "From this time on, the client is refused like a revoked one. null: it does not expire.",
    example: story.VISIT_STARTS_AT,
  }),
  secret_hint: base64Url(SECRET_HINT_LENGTH).meta({
    description: "The last characters of the secret, so that you can recognize it.",
    example: SECRET.slice(-SECRET_HINT_LENGTH),
  }),
  last_used_at: timestamp().nullable().meta({
    description:
      "The time of the client's first request on the last UTC day on which it was used; null if it was never used. The value can lag by a few seconds.",
    example: story.DOWNLOADED_AT,
  }),
  revoked_at: timestamp().nullable().describe("When the API client was revoked; null while it is in use."),
});

export const issuedApiClientSchema = apiClientSchema
  .omit({ secret_hint: true, last_used_at: true, revoked_at: true })
  .extend({
    client_secret: z
      .string()
      .length(SECRET.length)
      .regex(/^ovv_[A-Za-z0-9_-]+$/)
      .meta({
        description: `The value for the header \`X-Client-Secret\`. It begins with \`${CLIENT_SECRET_PREFIX}\`, so that scanners can find it in repositories. It is shown only in this response: store it safely.`,
        example: SECRET,
      }),
  })
  .meta({
    id: "IssuedApiClient",
    description: "The credentials that an organization uses to call the external API.",
  });

export const ownApiClientSchema = apiClientSchema
  .omit({ secret_hint: true, revoked_at: true })
  .extend({
    roles: roleList()
      .min(1)
      .meta({
        description: "The roles of the user that the client acts as, lowest first.",
        example: ["organization_admin"],
      }),
    created_at: field(timestamp(), "When the API client was created.", story.SET_UP_AT),
  })
  .meta({ id: "OwnApiClient", description: "The API client of the request." });
