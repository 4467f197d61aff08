import { eq, getTableColumns, notExists } from "drizzle-orm";
import type { Context } from "../../context.ts";
import {
  builder,
  type NamedQuery,
  namedQuery,
  type Placeholders,
  runBatch,
  type Value,
} from "../../database/queries.ts";
import type { Rule } from "../../database/rules.ts";
import { type ListName, organizations } from "../../database/schema.ts";
import { totalOf } from "../../database/totals.ts";
import { notFound } from "../../http/errors.ts";
import { type Page, type PageQuery, type PageWindow, pageWindow, toPage } from "../../http/pagination.ts";

export const organizationColumns = getTableColumns(organizations);

/** For verbs whose path names an organization. */
export const organizationMissing = (id: Value<number>): Rule => ({
  broken: notExists(
    builder.select({ id: organizations.id }).from(organizations).where(eq(organizations.id, id)),
  ),
  refusal: () => notFound("Organization"),
});

/**
 * A verb that lists what an organization has, for the platform. The total comes from the organization's row, so that one
 * round trip also says whether there is such an organization.
 */
export function listOfOrganization<Item>(
  list: ListName,
  pageOfItems: NamedQuery<{ organization_id: number } & PageWindow, Item>,
) {
  const total = namedQuery(({ organization_id }: Placeholders<{ organization_id: number }>) =>
    builder
      .select({ total: totalOf(list, organization_id).as("total") })
      .from(organizations)
      .where(eq(organizations.id, organization_id)),
  );
  return async ({ db }: Context, organization_id: number, page: PageQuery): Promise<Page<Item>> => {
    const [[counted], items] = await runBatch(db, [
      total({ organization_id }),
      pageOfItems({ organization_id, ...pageWindow(page) }),
    ]);
    if (!counted) throw notFound("Organization");
    return toPage(page, counted.total, items);
  };
}
