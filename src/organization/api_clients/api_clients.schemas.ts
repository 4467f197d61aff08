import * as z from "zod";
import { SCOPES } from "../../database/enums.ts";
import type { Row } from "../../database/queries.ts";
import { id, instant, name, toTimestamp, toTimestampOrNull, upToFirstFault } from "../../http/wire.ts";
import { MAX_SCOPE_NAMES } from "../../limits.ts";
import { lazily } from "../../memory.ts";
import type { apiClientSchema, issuedApiClientSchema, ownApiClientSchema } from "./api_clients.responses.ts";
import type { apiClientColumns, ownClientColumns } from "./api_clients.sql.ts";

export const scopeName = lazily(() =>
  z.enum(SCOPES).meta({ id: "Scope", description: "A permission of an API client." }),
);

/** In the order of SCOPES, without duplicates. */
const scopeNames = () =>
  // One error is enough, because it lists all scopes.
  upToFirstFault(
    z
      .array(scopeName(), "must be a list of scopes")
      .min(1, "must name at least one scope")
      .max(MAX_SCOPE_NAMES, `must name at most ${MAX_SCOPE_NAMES} scopes`),
  ).transform((names) => SCOPES.filter((scope) => names.includes(scope)));

export const createApiClientBody = () =>
  z.object({
    api_client: z
      .object({
        name: name(),
        organization_user_id: id(),
        scopes: scopeNames().nullable(),
        expires_at: instant().nullable(),
      })
      .partial({ scopes: true, expires_at: true }),
  });

export type ApiClient = Row<typeof apiClientColumns>;

/** Only the response to the creation contains the secret. */
export type IssuedApiClient = ApiClient & { client_secret: string };

const clientFieldsOf = (client: ApiClient) => ({
  id: client.id,
  name: client.name,
  organization_user_id: client.organization_user_id,
  client_id: client.client_id,
  scopes: client.scopes,
  expires_at: toTimestampOrNull(client.expires_at),
});

export function toApiClient(client: ApiClient): z.input<typeof apiClientSchema> {
  return {
    ...clientFieldsOf(client),
    secret_hint: client.secret_hint,
    last_used_at: toTimestampOrNull(client.last_used_at),
    revoked_at: toTimestampOrNull(client.revoked_at),
  };
}

export function toOwnApiClient(client: Row<typeof ownClientColumns>): z.input<typeof ownApiClientSchema> {
  return {
    ...clientFieldsOf(client),
    roles: client.roles,
    last_used_at: toTimestampOrNull(client.last_used_at),
    created_at: toTimestamp(client.created_at),
  };
}

export function toIssuedApiClient(client: IssuedApiClient): z.input<typeof issuedApiClientSchema> {
  return { ...clientFieldsOf(client), client_secret: client.client_secret };
}
