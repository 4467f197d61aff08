import { asc, eq, exists } from "drizzle-orm";
import type * as z from "zod";
import type { Context } from "../../context.ts";
import { builder, namedQuery, type Placeholders, runFirst } from "../../database/queries.ts";
import { namedWrite } from "../../database/rules.ts";
import { issuers } from "../../database/schema.ts";
import { notFound, unprocessable } from "../../http/errors.ts";
import type { PageWindow } from "../../http/pagination.ts";
import { listOfOrganization, organizationMissing } from "../organizations/organizations.sql.ts";
import type { createIssuerBody, Issuer } from "./issuers.schemas.ts";
import { issuerColumns, recognizedIssuer } from "./issuers.sql.ts";

export const listIssuers = listOfOrganization(
  "issuers",
  namedQuery(({ organization_id, limit, offset }: Placeholders<{ organization_id: number } & PageWindow>) =>
    builder
      .select(issuerColumns)
      .from(issuers)
      .where(eq(issuers.organization_id, organization_id))
      .orderBy(asc(issuers.id))
      .limit(limit)
      .offset(offset),
  ),
);

type IssuerInput = z.output<typeof createIssuerBody>["issuer"];

export async function createIssuer(
  { db, now }: Context,
  organization_id: number,
  input: IssuerInput,
): Promise<Issuer> {
  return insertIssuer(db, { organization_id, ...input, now });
}

interface NewIssuer extends IssuerInput {
  organization_id: number;
  now: number;
}

const insertIssuer = namedWrite(
  ({ organization_id, issuer, audience, jwks_url, email_claim, now }: Placeholders<NewIssuer>) => ({
    rules: [
      organizationMissing(organization_id),
      {
        broken: exists(
          builder.select({ id: issuers.id }).from(issuers).where(recognizedIssuer(organization_id, issuer)),
        ),
        refusal: () =>
          unprocessable(
            "issuer.issuer: is already registered for the organization; to change it, delete it first",
          ),
      },
    ],
    statements: [
      builder
        .insert(issuers)
        .values({
          organization_id,
          issuer,
          audience,
          jwks_url,
          email_claim,
          created_at: now,
          updated_at: now,
        })
        .returning(issuerColumns),
    ],
  }),
);

export async function deleteIssuer({ db }: Context, id: number): Promise<void> {
  const deleted = await runFirst(db, deleteById({ id }));
  if (!deleted) throw notFound("Issuer");
}

const deleteById = namedQuery(({ id }: Placeholders<{ id: number }>) =>
  builder.delete(issuers).where(eq(issuers.id, id)).returning({ id: issuers.id }),
);
