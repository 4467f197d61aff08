import { and, eq, sql } from "drizzle-orm";
import type * as z from "zod";
import type { Context } from "../../context.ts";
import type { Database } from "../../database/database.ts";
import { writeUnderRules } from "../../database/legacy_rules.ts";
import { issuers } from "../../database/schema.ts";
import { notFound, unprocessable } from "../../http/errors.ts";
import { organizationMissing } from "../organizations/organizations.service.ts";
import type { createIssuerBody, Issuer } from "./issuers.schemas.ts";

export async function createIssuer(
  { db, now }: Context,
  organization_id: number,
  input: z.output<typeof createIssuerBody>["issuer"],
): Promise<Issuer> {
  return writeUnderRules(
    db,
    [
      organizationMissing(organization_id),
      {
        broken: sql`exists (
          select 1 from issuers where organization_id = ${organization_id} and issuer = ${input.issuer})`,
        error: unprocessable("issuer.issuer: is already registered for the organization"),
      },
    ],
    [
      db
        .insert(issuers)
        .values({ organization_id, ...input, created_at: now, updated_at: now })
        .returning(),
    ],
  );
}

export async function deleteIssuer({ db }: Context, id: number) {
  const deleted = await db.delete(issuers).where(eq(issuers.id, id)).returning({ id: issuers.id });
  if (deleted.length === 0) throw notFound("Issuer");
}

/** Read anew at every exchange: an issuer that was deleted is trusted no longer. */
export async function findIssuer(
  db: Database,
  organization_id: number,
  issuer: string,
): Promise<Issuer | null> {
  const row = await db
    .select()
    .from(issuers)
    .where(and(eq(issuers.organization_id, organization_id), eq(issuers.issuer, issuer)))
    .get();
  return row ?? null;
}
