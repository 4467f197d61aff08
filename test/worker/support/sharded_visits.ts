import { env } from "cloudflare:workers";
import { vi } from "vitest";
import { STARTED_AT } from "./calls.ts";
import { makeShard } from "./make_shard.ts";
import type { Organization } from "./organization.ts";
import type { ShardedService } from "./shards.ts";

export const MINUTE = 60_000;

export async function makeShards() {
  await makeShard(env.DB, env.SPARE_1, 1, env.MIGRATIONS);
  await makeShard(env.DB, env.SPARE_2, 2, env.MIGRATIONS);
}

/** Moves the clock forward, and stops it there. */
export const letPass = (milliseconds: number) =>
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + milliseconds });

/** A room and an owner in an organization, and the fields of a call report with them. */
export async function aRoomWithOwner(organization: Organization) {
  const [room, owner] = [await organization.addRoom(), await organization.addProvider()];
  const call = { waiting_room_slug: room.slug, organization_user_id: owner.id, started_at: STARTED_AT };
  return { organization, room, owner, call };
}

export const inTwoShards = async ({ anOrganizationIn }: ShardedService) =>
  [await aRoomWithOwner(await anOrganizationIn(1)), await aRoomWithOwner(await anOrganizationIn(2))] as const;

export const rowsIn = async (database: D1Database, query: string, ...values: unknown[]) =>
  (
    await database
      .prepare(query)
      .bind(...values)
      .all()
  ).results;
