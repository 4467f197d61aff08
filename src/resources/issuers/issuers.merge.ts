import type * as z from "zod";
import type { issuers } from "../../database/schema.ts";
import { issuerRegistered } from "./issuers.refusals.ts";
import type { createIssuerBody } from "./issuers.schemas.ts";

/** @throws ApiError 422 if the organization has registered the issuer */
export function newIssuer(
  { organization_id, isRegistered }: { organization_id: number; isRegistered: boolean },
  input: z.output<ReturnType<typeof createIssuerBody>>["issuer"],
  now: number,
): typeof issuers.$inferInsert {
  if (isRegistered) throw issuerRegistered();
  return { organization_id, ...input, created_at: now, updated_at: now };
}
