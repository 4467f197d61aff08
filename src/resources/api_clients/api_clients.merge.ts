import type * as z from "zod";
import type { apiClients } from "../../database/schema.ts";
import { clientHasNoUser, madeAllClients, tooManyClients } from "./api_clients.refusals.ts";
import type { createApiClientBody } from "./api_clients.schemas.ts";

interface Known {
  organization_id: number;
  /** The user as whom the client is to act. */
  organizationUser: { id: number } | undefined;
  /** Whether the organization has all the clients that it can have. */
  isFull: boolean;
  /** Whether its own clients have made as many as they may ever make. The platform lets it in again then. */
  madeAll: boolean;
  client_id: string;
  secret_digest: string;
}

/** @throws ApiError 422 if the organization has no such user, or as many clients as it can have or make */
export function newApiClient(
  { organizationUser, isFull, madeAll, ...known }: Known,
  input: z.output<ReturnType<typeof createApiClientBody>>["api_client"],
  now: number,
): typeof apiClients.$inferInsert {
  if (madeAll) throw madeAllClients();
  if (!organizationUser) throw clientHasNoUser();
  if (isFull) throw tooManyClients();
  return { ...known, ...input, created_at: now, updated_at: now };
}
