import { env } from "cloudflare:workers";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { makeShard } from "./support/make_shard.ts";
import { anInvite, given } from "./support/organization.ts";
import { aShardedService, isDown, type OnTrip, type ShardedService } from "./support/shards.ts";

beforeAll(async () => {
  await makeShard(env.DB, env.SPARE_1, 1, env.MIGRATIONS);
  await makeShard(env.DB, env.SPARE_2, 2, env.MIGRATIONS);
});

afterEach(() => {
  vi.useRealTimers();
});

/** Lets the first round trip fail. */
function firstFails(): OnTrip {
  let trip = 0;
  return (run) => (++trip === 1 ? isDown(run) : run());
}

/** An invite in a new organization of each of the shards. */
async function invitesIn(service: ShardedService, shards: number[]): Promise<number[]> {
  const ids: number[] = [];
  for (const shard of shards) {
    const { client } = await service.anOrganizationIn(shard);
    const { id } = await given(client.post("/invites", { organization_invite: anInvite() }));
    ids.push(id);
  }
  return ids;
}

const idsOf = (page: { organization_invites: { id: number }[] }) =>
  page.organization_invites.map(({ id }) => id);

describe("A replica that fails", () => {
  it("lets its own primary be asked, though the request has gone on in other shards", async () => {
    const service = aShardedService();
    const [first = 0, second = 0] = await invitesIn(service, [0, 2]);
    const bookmark = (await service.platform.get("/organizations")).headers.get("X-D1-Bookmark") ?? "";
    const answer = await service.during(0, firstFails(), () =>
      service.platform.send("GET", `/invites?status=active&after=${first - 1}`, undefined, {
        "X-D1-Bookmark": bookmark,
      }),
    );
    const ids = idsOf(answer.body);
    expect(ids).toContain(first);
    expect(ids.filter((id) => id === second)).toHaveLength(1);
  });
});
