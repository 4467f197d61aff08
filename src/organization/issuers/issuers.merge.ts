import type * as z from "zod";
import type { NewRow } from "../../database/insert.ts";
import { issuerRegistered } from "./issuers.refusals.ts";
import type { createIssuerBody } from "./issuers.schemas.ts";
import type { issuers } from "./issuers.table.ts";

/** @throws ApiError 422 if the issuer is already registered with this audience */
export function newIssuer(
  { organization_id, isRegistered }: { organization_id: number; isRegistered: boolean },
  input: z.output<ReturnType<typeof createIssuerBody>>["issuer"],
  now: number,
): NewRow<typeof issuers> {
  if (isRegistered) throw issuerRegistered();
  return { organization_id, ...input, created_at: now, updated_at: now };
}
