import type * as z from "zod";
import type { Context } from "../../context.ts";
import { decideAndWrite } from "../../database/decide_and_write.ts";
import { isSameRow } from "../../database/merging.ts";
import { runBatch, runFirst } from "../../database/queries.ts";
import { kebabCase, MAX_SLUG_SUFFIX_LENGTH } from "../../database/slug.ts";
import { copyToDirectory, copyToShard, shardOfNewOrganizations } from "../../directory/organizations.ts";
import { type Page, type PageQuery, pageWindow, toPage } from "../../http/pagination.ts";
import { MAX_ORGANIZATION_SLUG_LENGTH } from "../../limits.ts";
import { mergeOrganization, newOrganization } from "./organizations.merge.ts";
import { organizationNotFound } from "./organizations.refusals.ts";
import type {
  createOrganizationBody,
  Organization,
  updateOrganizationBody,
} from "./organizations.schemas.ts";
import {
  newOrganizationEntry,
  organizationBySlug,
  organizationEntry,
  organizationRow,
  organizationWrites,
  pageOfOrganizations,
  totalOfOrganizations,
} from "./organizations.sql.ts";

/** All organizations of the service. */
export async function listOrganizations({ db }: Context, page: PageQuery): Promise<Page<Organization>> {
  const [[counted], items] = await runBatch(db, [
    totalOfOrganizations({}),
    pageOfOrganizations(pageWindow(page)),
  ]);
  return toPage(page, counted?.total ?? 0, items);
}

export async function requireOrganization({ db }: Context, id: number): Promise<Organization> {
  const organization = await runFirst(db, organizationRow({ id }));
  if (!organization) throw organizationNotFound();
  return organization;
}

/** A slug that is made from the name is numbered where it is taken; one that was chosen is refused. */
export async function createOrganization(
  context: Context,
  { name, slug: chosen }: z.output<typeof createOrganizationBody>["organization"],
): Promise<Organization> {
  const { db, now } = context;
  const slug = chosen ?? (await slugOf(name));
  const shard = shardOfNewOrganizations(context);
  const reads = chosen === undefined ? [] : [organizationBySlug({ slug })];
  const organization = await decideAndWrite(db, reads, (taken = []) => ({
    writes: [organizationWrites.insert(newOrganization({ name, slug, shard }, taken.length > 0, now))],
    // That of another shard has its entry there.
    entries: shard === 0 ? [newOrganizationEntry(context, "create", {})] : [],
  }));
  await copyToShard(context, organization);
  return organization;
}

/** Leaves space for a number. */
async function slugOf(name: string): Promise<string> {
  const slug = await kebabCase(name, "organization");
  return slug.slice(0, MAX_ORGANIZATION_SLUG_LENGTH - MAX_SLUG_SUFFIX_LENGTH).replace(/-+$/, "");
}

export async function updateOrganization(
  context: Context,
  id: number,
  input: z.output<typeof updateOrganizationBody>["organization"],
): Promise<Organization> {
  const { db, now } = context;
  const updated = await decideAndWrite(db, [organizationRow({ id })], ([organization]) => {
    if (!organization) throw organizationNotFound();
    const next = mergeOrganization(organization, input, now);
    return {
      writes: [organizationWrites.update(organization, next)],
      entries: isSameRow(organization, next) ? [] : [organizationEntry(context, "update", { id })],
    };
  });
  await copyToDirectory(context, updated);
  return updated;
}
