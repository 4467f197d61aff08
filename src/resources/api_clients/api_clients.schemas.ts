import * as z from "zod";
import type { Row } from "../../database/queries.ts";
import { id, name, toTimestampOrNull } from "../../http/wire.ts";
import { lazily } from "../../memory.ts";
import type { apiClientSchema, issuedApiClientSchema } from "./api_clients.responses.ts";
import type { apiClientColumns } from "./api_clients.sql.ts";

export const createApiClientBody = lazily(() =>
  z.object({ api_client: z.object({ name: name(), organization_user_id: id() }) }),
);

export type ApiClient = Row<typeof apiClientColumns>;

/** The secret is in the answer to the creation and nowhere else. */
export type IssuedApiClient = ApiClient & { client_secret: string };

const fieldsOf = (client: ApiClient) => ({
  id: client.id,
  name: client.name,
  organization_user_id: client.organization_user_id,
  client_id: client.client_id,
});

export function toApiClient(client: ApiClient): z.input<typeof apiClientSchema> {
  return { ...fieldsOf(client), revoked_at: toTimestampOrNull(client.revoked_at) };
}

export function toIssuedApiClient(client: IssuedApiClient): z.input<typeof issuedApiClientSchema> {
  return { ...fieldsOf(client), client_secret: client.client_secret };
}
