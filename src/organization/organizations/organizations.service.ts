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
import { pageWindow, toPage } from "../../http/pagination.ts";
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
import * as refusals from "./organizations.refusals.ts";
import type {
  Organization,
  organizationsQuery,
  PlacedOrganization,
  updateOrganizationBody,
} from "./organizations.schemas.ts";
import * as sql from "./organizations.sql.ts";

type ListQuery = z.output<ReturnType<typeof organizationsQuery>>;

/** Each database that holds a part of the page is queried once. */
export async function listOrganizations(context: Context, { region, ...page }: ListQuery) {
  const { db, shards } = context;
  const among = region === undefined ? null : shardsIn(context, region);
  if (among?.length === 0) throw refusals.noRegionToList(regionsOf(context));
  const filter = { shards: among && JSON.stringify(among) };
  const window = { ...pageWindow(page), ...filter };
  const [[counted], places, here] = await runBatch(db, [
    totalOfPlaces(filter),
    pageOfPlaces(window),
    sql.organizationsOfPage(window),
  ]);
  const elsewhere = Map.groupBy(
    places.filter(({ shard }) => shard > 0),
    ({ shard }) => shard,
  );
  const others = Array.from(elsewhere, async ([shard, found]) => {
    const ids = JSON.stringify(found.map(({ id }) => id));
    const entered = requireShards(shards).enter(shard);
    const rows = await inTime(runAll(entered.db, sql.organizationsAmong({ ids })), DATABASE_TIMEOUT);
    return rows.map((row) => placed(entered, row));
  });
  const first = here.map((row) => placed({ ...context, shard: 0 }, row));
  const items = [first, ...(await Promise.all(others))].flat().sort((one, other) => one.id - other.id);
  return toPage(page, counted?.total ?? 0, items);
}

const regionOf = ({ settings }: Context, shard: number): string | null =>
  settings.SHARD_REGIONS?.get(shard) ?? null;

const numbersOf = ({ shards }: Context): number[] => shards?.numbers ?? [0];

const regionsOf = (context: Context): string[] =>
  numbersOf(context).flatMap((shard) => regionOf(context, shard) ?? []);

const shardsIn = (context: Context, region: string | null): number[] =>
  numbersOf(context).filter((shard) => regionOf(context, shard) === region);

const placed = (context: Context, row: Organization): PlacedOrganization => ({
  ...row,
  region: regionOf(context, context.shard),
});

export const requireOrganization = async (context: Context, id: number): Promise<PlacedOrganization> =>
  placed(context, await requireFirst(context.db, sql.organizationRow({ id }), refusals.organizationNotFound));

/**
 * A taken slug gets a number if it was generated, and is refused if it was chosen. In the directory's own database, one
 * transaction inserts the place and the organization. In another one, the organization follows: if that fails, the next request
 * for the slug repeats it.
 */
export async function createOrganization(
  context: Context,
  input: NewOrganization,
): Promise<PlacedOrganization> {
  const { name, slug: chosen } = input;
  const { now, settings } = context;
  const slug = chosen ?? (await slugOf(name));
  const region = input.region ?? settings.DEFAULT_REGION ?? regionOf(context, 0);
  const shard = shardOfNewOrganizations(context, region);
  const reads: Record<string, BoundQuery<Place>> = {};
  if (chosen !== undefined) reads.places = placeOfSlug({ slug });
  const placeOrOrganization = await decideAndWrite(
    context,
    reads,
    ({ places = [] }): Decision<Place | Organization> => {
      const [place] = places;
      const isTaken =
        place &&
        (place.shard === 0 || place.deleted_at !== null || regionOf(context, place.shard) !== region);
      if (isTaken) throw refusals.organizationSlugTaken();
      if (place) return { unchanged: place };
      const insertPlace = placeWrites.insert({ slug, shard, deleted_at: null });
      if (shard > 0) return { writes: [insertPlace] };
      return {
        writes: [insertPlace, sql.insertAtNewestPlace(newOrganization(input, now))],
        entries: [sql.newestOrganizationEntry(context, "create", {})],
      };
    },
  );
  return "shard" in placeOrOrganization
    ? createAt(requireShards(context.shards).enter(placeOrOrganization.shard), placeOrOrganization, input)
    : placed(context, placeOrOrganization);
}

/** @throws ApiError 422 if the organization already exists, so that its slug is taken */
async function createAt(
  context: Context,
  { id, slug, shard }: Place,
  input: NewOrganization,
): Promise<PlacedOrganization> {
  const { now } = context;
  const reads = { organization: sql.organizationRow({ id }), shard: ownShard({}) };
  const organization = await decideAndWrite(
    context,
    reads,
    ({ organization: [organization], shard: [own] }) => {
      if (organization) throw refusals.organizationSlugTaken();
      // Two bindings are mixed up.
      if (own?.value !== shard) throw new Error(`The binding of shard ${shard} leads to another database`);
      return {
        writes: [sql.organizationWrites.insert({ id, slug, ...newOrganization(input, now) })],
        entries: [sql.organizationEntry(context, "create", { id })],
      };
    },
  );
  return placed(context, organization);
}

function requireShards(shards: Shards | undefined): Shards {
  if (!shards) throw new Error("Organizations live in databases that are not bound");
  return shards;
}

/** The shard from the setting if it is in the region, or else the newest one of the region. */
function shardOfNewOrganizations(context: Context, region: string | null): number {
  const numbers = numbersOf(context);
  const { NEW_ORGANIZATIONS_SHARD: chosen } = context.settings;
  if (chosen !== undefined && !numbers.includes(chosen))
    throw new SettingsError(
      ["NEW_ORGANIZATIONS_SHARD"],
      `NEW_ORGANIZATIONS_SHARD must be one of the databases that are bound: ${numbers}`,
    );
  const inRegion = shardsIn(context, region);
  const newest = inRegion.at(-1);
  if (newest === undefined) throw refusals.noSuchRegion(regionsOf(context));
  return chosen !== undefined && inRegion.includes(chosen) ? chosen : newest;
}

/** Leaves space for a number. */
async function slugOf(name: string): Promise<string> {
  const slug = await kebabCase(name, "organization");
  return slug.slice(0, MAX_ORGANIZATION_SLUG_LENGTH - MAX_SLUG_SUFFIX_LENGTH).replace(/-+$/, "");
}

type OrganizationUpdate = z.output<ReturnType<typeof updateOrganizationBody>>["organization"];

export async function updateOrganization(context: Context, id: number, input: OrganizationUpdate) {
  const reads = { organization: sql.organizationRow({ id }) };
  const updated = await decideAndWrite(context, reads, ({ organization: [organization] }) =>
    decideOrganization(context, organization, input, mergeOrganizationByPlatform),
  );
  return placed(context, updated);
}

export async function updateOwnOrganization(context: ClientContext, input: OrganizationUpdate) {
  const { caller } = context;
  const author = asAdministrator(caller);
  const reads = { member: author.read, organization: sql.organizationRow({ id: author.organization_id }) };
  const updated = await decideAndWrite(
    context,
    reads,
    ({ member: [member], organization: [organization] }) => {
      author.require(member);
      return decideOrganization(context, organization, input, mergeOrganization);
    },
  );
  return placed(context, updated);
}

function decideOrganization(
  context: Context,
  organization: Organization | undefined,
  input: OrganizationUpdate,
  merge: typeof mergeOrganization,
): Decision<Organization> {
  if (!organization) throw refusals.organizationNotFound();
  requireUnchanged(context, { ...placed(context, organization), app_url: context.settings.APP_URL });
  const { id } = organization;
  const next = merge(organization, input, context.now);
  return {
    writes: [sql.organizationWrites.update(organization, next)],
    entries: isSameRow(organization, next) ? [] : [sql.organizationEntry(context, "update", { id })],
  };
}

/** Otherwise nobody notices that the webhooks and the retention of an interrupted command's organizations wait. */
export async function reportFrozen({ db, now }: Context): Promise<number> {
  const frozen = await runAll(db, frozenBefore({ time: now - FROZEN_AT_MOST }));
  for (const { organization_id, since } of frozen)
    log("organization_frozen", { organization_id, since: toTimestamp(since) });
  return frozen.length;
}
