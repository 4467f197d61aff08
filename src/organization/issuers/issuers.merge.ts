import type * as z from "zod";
import type { NewRow } from "../../database/insert.ts";
import { notFound, unprocessable } from "../../http/errors.ts";
import type { createIssuerBody } from "./issuers.schemas.ts";
import type { issuers } from "./issuers.table.ts";

/** @throws ApiError 422 */
export function newIssuer(
  { organization_id, isRegistered }: { organization_id: number; isRegistered: boolean },
  input: z.output<ReturnType<typeof createIssuerBody>>["issuer"],
  now: number,
): NewRow<typeof issuers> {
  if (isRegistered) throw issuerRegistered();
  return { organization_id, ...input, created_at: now, updated_at: now };
}

export const issuerNotFound = () => notFound("Issuer");

export const issuerRegistered = () =>
  unprocessable(
    "issuer_exists",
    "issuer.issuer: is already registered for the organization with this audience; to change the registration, delete it first",
  );

export const NOT_TRUSTWORTHY = "must be an https URL, or an http URL on a loopback host";
