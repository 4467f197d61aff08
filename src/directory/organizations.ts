import { and, asc, eq, getTableColumns, inArray, lt, lte, sql } from "drizzle-orm";
import type { Context, Shards } from "../context.ts";
import { insertSelect, jsonField, jsonFields } from "../database/insert.ts";
import {
  type BoundQuery,
  builder,
  type Placeholders,
  preparedQuery,
  runAll,
  runBatch,
} from "../database/queries.ts";
import { accessLogs, organizationOutbox, organizations } from "../database/schema.ts";
import { logFault } from "../http/log.ts";
import { COPY_OVERDUE_AFTER, CRON_PORTION } from "../limits.ts";
import { accessEntries } from "../resources/access_logs/access_logs.entries.ts";
import { SettingsError } from "../settings.ts";

/*
 * The row of an organization is in the directory and, if it lives elsewhere, in its shard. database/shards.ts says what
 * happens if only one of the two is written.
 */

type Organization = typeof organizations.$inferSelect;

/** Where a new organization is to live: in the newest shard, or in the one of the setting. */
export function shardOfNewOrganizations({ shards, settings }: Context): number {
  const numbers = shards?.numbers ?? [0];
  const shard = settings.NEW_ORGANIZATIONS_SHARD ?? numbers.at(-1) ?? 0;
  if (!numbers.includes(shard))
    throw new SettingsError(
      `NEW_ORGANIZATIONS_SHARD must be one of the databases that are bound: ${numbers}`,
    );
  return shard;
}

/** Copies a new organization to its shard. If that fails, the organization is taken back. */
export async function copyToShard(context: Context, organization: Organization): Promise<void> {
  const { shards } = context;
  if (!shards || organization.shard === 0) return;
  try {
    await runBatch(shards.databaseOf(organization.shard), copyNew(context, [organization]));
  } catch (error) {
    const { id } = organization;
    const undo = runBatch(shards.directory, [
      takeBack({ id }),
      clearOutbox({ rows: outboxRows([{ id, written_at: organization.created_at }]) }),
    ]);
    await undo.catch((fault) => logFault({ chore: "organization_copy" }, fault));
    throw error;
  }
}

/** Copies a changed organization to the directory. If that fails, the cron does it. */
export async function copyToDirectory({ shard, shards }: Context, organization: Organization): Promise<void> {
  if (!shards || shard === 0) return;
  const copied = runAll(shards.directory, copyChanged({ rows: JSON.stringify([organization]) }));
  await copied.catch((fault) => logFault({ chore: "organization_copy" }, fault));
}

/** The chore of the cron that copies what a request could not. */
export async function copyOrganizations(context: Context): Promise<number> {
  const { db, shard, shards, now } = context;
  if (!shards) return 0;
  const overdue = await runAll(db, overdueCopies({ before: now - COPY_OVERDUE_AFTER }));
  const copied =
    shard === 0 ? copyAllToShards(context, shards, overdue) : copyAllToDirectory(shards, overdue);
  const { done, fault } = await copied;
  if (done.length > 0) await runAll(db, clearOutbox({ rows: outboxRows(done) }));
  if (fault) throw fault;
  return done.length;
}

type Overdue = Organization & { written_at: number };

/** What was copied, and the first fault of a shard. */
interface Copied {
  done: Overdue[];
  fault?: unknown;
}

async function copyAllToShards(context: Context, shards: Shards, overdue: Overdue[]): Promise<Copied> {
  const copied: Copied = { done: [] };
  for (const [shard, rows] of Map.groupBy(overdue, (each) => each.shard))
    try {
      await runBatch(shards.databaseOf(shard), copyNew(context, rows));
      copied.done.push(...rows);
    } catch (error) {
      copied.fault ??= error;
    }
  return copied;
}

async function copyAllToDirectory(shards: Shards, overdue: Overdue[]): Promise<Copied> {
  if (overdue.length > 0) await runAll(shards.directory, copyChanged({ rows: JSON.stringify(overdue) }));
  return { done: overdue };
}

/** The columns that an update may change. */
const changing = Object.keys(getTableColumns(organizations)).filter(
  (name) => !["id", "slug", "slug_number", "slug_stem", "shard"].includes(name),
);

/** The statements that copy new organizations to their shard, with the entries of the access log. */
function copyNew(context: Context, copied: Organization[]): BoundQuery<unknown>[] {
  const rows = JSON.stringify(copied);
  return [renameNamesakes({ rows }), insertCopies({ rows }), creationEntries(context, "create", { rows })];
}

/** Once for each organization, however often it is copied. */
const creationEntries = accessEntries("organization", ({ rows }: Placeholders<{ rows: string }>) => ({
  organization_id: sql<number>`${organizations.id}`,
  resource_id: sql<number>`${organizations.id}`,
  from: sql`from ${organizations} where ${organizations.id} in (select ${jsonField("id")} from json_each(${rows}) as item)
    and not exists (select 1 from ${accessLogs} where ${eq(accessLogs.organization_id, organizations.id)})`,
}));

/**
 * An older organization with the slug was taken back after it had been copied. Nobody knows it, so its slug can be given again.
 * Its access log stays.
 */
const renameNamesakes = preparedQuery(({ rows }: Placeholders<{ rows: string }>) =>
  builder
    .update(organizations)
    .set({ slug: sql`'taken-back-' || ${organizations.id}` })
    .from(sql`json_each(${rows}) as item`)
    .where(and(eq(organizations.slug, jsonField("slug")), lt(organizations.id, jsonField("id")))),
);

const insertCopies = preparedQuery(({ rows }: Placeholders<{ rows: string }>) =>
  insertSelect(
    organizations,
    jsonFields(organizations),
    sql`from json_each(${rows}) as item where true`,
  ).onConflictDoNothing(),
);

/** An older copy that comes later changes nothing. */
const copyChanged = preparedQuery(({ rows }: Placeholders<{ rows: string }>) =>
  builder
    .update(organizations)
    .set(Object.fromEntries(changing.map((name) => [name, jsonField(name)])))
    .from(sql`json_each(${rows}) as item`)
    .where(
      and(eq(organizations.id, jsonField("id")), lte(organizations.updated_at, jsonField("updated_at"))),
    ),
);

const overdueCopies = preparedQuery(({ before }: Placeholders<{ before: number }>) =>
  builder
    .select({ ...getTableColumns(organizations), written_at: organizationOutbox.written_at })
    .from(organizationOutbox)
    .innerJoin(organizations, eq(organizations.id, organizationOutbox.organization_id))
    .where(lte(organizationOutbox.written_at, before))
    .orderBy(asc(organizationOutbox.organization_id))
    .limit(CRON_PORTION),
);

/** Unless it was changed again. */
const clearOutbox = preparedQuery(({ rows }: Placeholders<{ rows: string }>) =>
  builder.delete(organizationOutbox).where(
    sql`(${organizationOutbox.organization_id}, ${organizationOutbox.written_at}) in
        (select ${jsonField("id")}, ${jsonField("written_at")} from json_each(${rows}) as item)`,
  ),
);

const outboxRows = (copied: Pick<Overdue, "id" | "written_at">[]) =>
  JSON.stringify(copied.map(({ id, written_at }) => ({ id, written_at })));

/** Unless the cron has copied it meanwhile. */
const takeBack = preparedQuery(({ id }: Placeholders<{ id: number }>) => {
  const uncopied = builder.select({ id: organizationOutbox.organization_id }).from(organizationOutbox);
  return builder
    .delete(organizations)
    .where(and(eq(organizations.id, id), inArray(organizations.id, uncopied)));
});
