import type * as z from "zod";
import type { ClientContext, Context, Shards } from "../../context.ts";
import { type Decision, decideAndWrite } from "../../database/decide_and_write.ts";
import { inTime } from "../../database/in_time.ts";
import { isSameRow } from "../../database/merging.ts";
import { frozenBefore } from "../../database/moves.ts";
import { type BoundQuery, requireFirst, runAll, runBatch } from "../../database/queries.ts";
import { ownShard } from "../../database/quiet.ts";
import { kebabCase, MAX_SLUG_SUFFIX_LENGTH } from "../../database/slug.ts";
import { type Place, pageOfPlaces, placeOfSlug, placeWrites, totalOfPlaces } from "../../directory/places.ts";
import { log } from "../../http/log.ts";
import { type PageQuery, pageWindow, toPage } from "../../http/pagination.ts";
import { requireUnchanged } from "../../http/unchangeable.ts";
import { toTimestamp } from "../../http/wire.ts";
import { MAX_ORGANIZATION_SLUG_LENGTH } from "../../limits.ts";
import { SettingsError } from "../../settings.ts";
import { DATABASE_TIMEOUT, FROZEN_AT_MOST } from "../../tuning.ts";
import { asAdministrator } from "../roles/roles.authors.ts";
import {
  mergeOrganization,
  mergeOrganizationByPlatform,
  type NewOrganization,
  newOrganization,
} from "./organizations.merge.ts";
import { organizationNotFound, organizationSlugTaken } from "./organizations.refusals.ts";
import type { Organization, updateOrganizationBody } from "./organizations.schemas.ts";
import {
  insertAtNewestPlace,
  newestOrganizationEntry,
  organizationEntry,
  organizationRow,
  organizationsAmong,
  organizationsOfPage,
  organizationWrites,
} from "./organizations.sql.ts";

/** Each database that holds a part of the page is queried once. */
export async function listOrganizations({ db, shards }: Context, page: PageQuery) {
  const window = pageWindow(page);
  const [[counted], places, here] = await runBatch(db, [
    totalOfPlaces({}),
    pageOfPlaces(window),
    organizationsOfPage(window),
  ]);
  const elsewhere = Map.groupBy(
    places.filter(({ shard }) => shard > 0),
    ({ shard }) => shard,
  );
  const others = Array.from(elsewhere, ([shard, found]) =>
    inTime(
      runAll(
        requireShards(shards).enter(shard).db,
        organizationsAmong({ ids: JSON.stringify(found.map(({ id }) => id)) }),
      ),
      DATABASE_TIMEOUT,
    ),
  );
  const items = [here, ...(await Promise.all(others))].flat().sort((one, other) => one.id - other.id);
  return toPage(page, counted?.total ?? 0, items);
}

export const requireOrganization = ({ db }: Context, id: number): Promise<Organization> =>
  requireFirst(db, organizationRow({ id }), organizationNotFound);

/**
 * A taken slug gets a number if it was generated, and is refused if it was chosen. In the directory's own database, one
 * transaction inserts the place and the organization. In another one, the organization follows: if that fails, the next request
 * for the slug repeats it.
 */
export async function createOrganization(context: Context, input: NewOrganization): Promise<Organization> {
  const { name, slug: chosen } = input;
  const { now } = context;
  const slug = chosen ?? (await slugOf(name));
  const shard = shardOfNewOrganizations(context);
  const reads: Record<string, BoundQuery<Place>> = {};
  if (chosen !== undefined) reads.places = placeOfSlug({ slug });
  const placeOrOrganization = await decideAndWrite(
    context,
    reads,
    ({ places = [] }): Decision<Place | Organization> => {
      const [place] = places;
      if (place && (place.shard === 0 || place.deleted_at !== null)) throw organizationSlugTaken();
      if (place) return { unchanged: place };
      const insertPlace = placeWrites.insert({ slug, shard, deleted_at: null });
      if (shard > 0) return { writes: [insertPlace] };
      return {
        writes: [insertPlace, insertAtNewestPlace(newOrganization(input, now))],
        entries: [newestOrganizationEntry(context, "create", {})],
      };
    },
  );
  return "shard" in placeOrOrganization
    ? createAt(requireShards(context.shards).enter(placeOrOrganization.shard), placeOrOrganization, input)
    : placeOrOrganization;
}

/** @throws ApiError 422 if the organization already exists, so that its slug is taken */
function createAt(
  context: Context,
  { id, slug, shard }: Place,
  input: NewOrganization,
): Promise<Organization> {
  const { now } = context;
  const reads = { organization: organizationRow({ id }), shard: ownShard({}) };
  return decideAndWrite(context, reads, ({ organization: [organization], shard: [own] }) => {
    if (organization) throw organizationSlugTaken();
    // Two bindings are mixed up.
    if (own?.value !== shard) throw new Error(`The binding of shard ${shard} leads to another database`);
    return {
      writes: [organizationWrites.insert({ id, slug, ...newOrganization(input, now) })],
      entries: [organizationEntry(context, "create", { id })],
    };
  });
}

function requireShards(shards: Shards | undefined): Shards {
  if (!shards) throw new Error("Organizations live in databases that are not bound");
  return shards;
}

/** The shard from the setting, or else the newest one. */
function shardOfNewOrganizations({ shards, settings }: Context): number {
  const numbers = shards?.numbers ?? [0];
  const shard = settings.NEW_ORGANIZATIONS_SHARD ?? numbers.at(-1) ?? 0;
  if (!numbers.includes(shard))
    throw new SettingsError(
      ["NEW_ORGANIZATIONS_SHARD"],
      `NEW_ORGANIZATIONS_SHARD must be one of the databases that are bound: ${numbers}`,
    );
  return shard;
}

/** Leaves space for a number. */
async function slugOf(name: string): Promise<string> {
  const slug = await kebabCase(name, "organization");
  return slug.slice(0, MAX_ORGANIZATION_SLUG_LENGTH - MAX_SLUG_SUFFIX_LENGTH).replace(/-+$/, "");
}

type OrganizationUpdate = z.output<ReturnType<typeof updateOrganizationBody>>["organization"];

export const updateOrganization = (context: Context, id: number, input: OrganizationUpdate) =>
  decideAndWrite(context, { organization: organizationRow({ id }) }, ({ organization: [organization] }) =>
    decideOrganization(context, organization, input, mergeOrganizationByPlatform),
  );

export const updateOwnOrganization = (context: ClientContext, input: OrganizationUpdate) => {
  const { caller } = context;
  const author = asAdministrator(caller);
  const reads = { member: author.read, organization: organizationRow({ id: author.organization_id }) };
  return decideAndWrite(context, reads, ({ member: [member], organization: [organization] }) => {
    author.require(member);
    return decideOrganization(context, organization, input, mergeOrganization);
  });
};

function decideOrganization(
  context: Context,
  organization: Organization | undefined,
  input: OrganizationUpdate,
  merge: typeof mergeOrganization,
): Decision<Organization> {
  if (!organization) throw organizationNotFound();
  requireUnchanged(context, { ...organization, app_url: context.settings.APP_URL });
  const { id } = organization;
  const next = merge(organization, input, context.now);
  return {
    writes: [organizationWrites.update(organization, next)],
    entries: isSameRow(organization, next) ? [] : [organizationEntry(context, "update", { id })],
  };
}

/** Otherwise nobody notices that the webhooks and the retention of an interrupted command's organizations wait. */
export async function reportFrozen({ db, now }: Context): Promise<number> {
  const frozen = await runAll(db, frozenBefore({ time: now - FROZEN_AT_MOST }));
  for (const { organization_id, since } of frozen)
    log("organization_frozen", { organization_id, since: toTimestamp(since) });
  return frozen.length;
}
