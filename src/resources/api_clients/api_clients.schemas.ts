import * as z from "zod";
import { id, name } from "../../http/wire.ts";
import type { IssuedApiClient } from "./api_clients.service.ts";

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

export function toApiClient(client: IssuedApiClient): z.input<typeof apiClientSchema> {
  return {
    id: client.id,
    name: client.name,
    organization_user_id: client.organization_user_id,
    client_id: client.client_id,
    client_secret: client.client_secret,
  };
}
