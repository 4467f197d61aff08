import { apiClients } from "../../database/schema.ts";

export const apiClientColumns = {
  id: apiClients.id,
  name: apiClients.name,
  organization_user_id: apiClients.organization_user_id,
  client_id: apiClients.client_id,
  revoked_at: apiClients.revoked_at,
};
