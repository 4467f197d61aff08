import type * as z from "zod";
import type { Context } from "../../context.ts";
import { decideAndWrite } from "../../database/decide_and_write.ts";
import { runBatch } from "../../database/queries.ts";
import type { OwnPath } from "../../http/wire.ts";
import { organizationNotFound } from "../organizations/organizations.refusals.ts";
import { listOfOrganization, organizationById } from "../organizations/organizations.sql.ts";
import { issuerNotFound, newIssuer } from "./issuers.merge.ts";
import type { createIssuerBody, Issuer } from "./issuers.schemas.ts";
import * as sql from "./issuers.sql.ts";
import { issuers } from "./issuers.table.ts";

export const listIssuers = listOfOrganization(issuers, sql.issuerColumns);

export async function createIssuer(
  context: Context,
  organization_id: number,
  input: z.output<ReturnType<typeof createIssuerBody>>["issuer"],
): Promise<Issuer> {
  const { now } = context;
  return decideAndWrite(
    context,
    {
      organization: organizationById({ id: organization_id }),
      issuers: sql.issuersByName({ organization_id, issuer: input.issuer }),
    },
    ({ organization: [organization], issuers }) => {
      if (!organization) throw organizationNotFound();
      const known = {
        organization_id,
        isRegistered: issuers.some(({ audience }) => audience === input.audience),
      };
      return {
        writes: [sql.issuerWrites.insert(newIssuer(known, input, now))],
        entries: [sql.issuerEntry.ofNewest(context, "create", {})],
      };
    },
  );
}

export async function deleteIssuer(context: Context, path: OwnPath): Promise<void> {
  const [, [deleted]] = await runBatch(context.db, [
    sql.issuerEntry.of(context, "delete", path),
    sql.deleteIssuerOfPath(path),
  ]);
  if (!deleted) throw issuerNotFound();
}
