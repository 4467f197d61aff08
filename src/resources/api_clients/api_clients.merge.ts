import type * as z from "zod";
import type { apiClients } from "../../database/schema.ts";
import { clientHasNoUser } from "./api_clients.refusals.ts";
import type { createApiClientBody } from "./api_clients.schemas.ts";

interface Known {
  organization_id: number;
  /** The user as whom the client is to act. */
  organizationUser: { id: number } | undefined;
  client_id: string;
  secret_digest: string;
}

/** @throws ApiError 422 if the organization has no such user */
export function newApiClient(
  { organizationUser, ...known }: Known,
  input: z.output<ReturnType<typeof createApiClientBody>>["api_client"],
  now: number,
): typeof apiClients.$inferInsert {
  if (!organizationUser) throw clientHasNoUser();
  return { ...known, ...input, created_at: now, updated_at: now };
}
