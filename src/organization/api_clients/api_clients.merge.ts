import type * as z from "zod";
import type { NewRow } from "../../database/insert.ts";
import { isWithin, type Rights } from "./api_clients.policy.ts";
import * as refusals from "./api_clients.refusals.ts";
import type { createApiClientBody } from "./api_clients.schemas.ts";
import type { apiClients } from "./api_clients.table.ts";

interface Known {
  organization_id: number;
  organizationUser: { id: number } | undefined;
  isFull: boolean;
  /** The lifetime limit. Always false for the platform, which may exceed it. */
  madeAll: boolean;
  own: Rights;
  client_id: string;
  secret_digest: string;
  secret_hint: string;
}

const UNUSED = { last_used_at: null, revoked_at: null };

export function newApiClient(
  { organizationUser, isFull, madeAll, own, ...known }: Known,
  input: z.output<ReturnType<typeof createApiClientBody>>["api_client"],
  now: number,
): NewRow<typeof apiClients> {
  if (madeAll) throw refusals.madeAllClients();
  if (!organizationUser) throw refusals.clientHasNoUser();
  if (isFull) throw refusals.tooManyClients();
  const { scopes = null, expires_at = null } = input;
  if (!isWithin(own, { ...own, scopes })) throw refusals.scopesBeyondOwn(own.scopes ?? []);
  if (!isWithin(own, { ...own, expires_at })) throw refusals.outlivesOwn();
  if (expires_at !== null && expires_at <= now) throw refusals.expiresInPast();
  return { ...known, ...input, scopes, expires_at, ...UNUSED, created_at: now, updated_at: now };
}
