import * as z from "zod";
import type { Row } from "../../database/queries.ts";
import { id, name } from "../../http/wire.ts";
import type { apiClientColumns } from "./api_clients.sql.ts";

export const createApiClientBody = z.object({
  api_client: z.object({ name, organization_user_id: id }),
});

export const apiClientSchema = z.object({
  id,
  name: z.string(),
  organization_user_id: id,
  client_id: z.string(),
  client_secret: z.string(),
});

/** The secret is in the answer to the creation and nowhere else. */
export type IssuedApiClient = Row<typeof apiClientColumns> & { client_secret: string };

export function toApiClient(client: IssuedApiClient): z.input<typeof apiClientSchema> {
  return {
    id: client.id,
    name: client.name,
    organization_user_id: client.organization_user_id,
    client_id: client.client_id,
    client_secret: client.client_secret,
  };
}
