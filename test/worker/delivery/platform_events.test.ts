import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { QUIETING_STATEMENTS, RESUMING_STATEMENTS } from "../../../src/dev/quiet_statements.ts";
import { type Api, platform } from "../support/api.ts";
import { aCall } from "../support/calls.ts";
import { expectRefusal } from "../support/expectations.ts";
import { observedDatabase } from "../support/observed_database.ts";
import { anOrganization, given, type Organization } from "../support/organization.ts";
import { countingRows, insertMany } from "../support/rows.ts";
import { makeShards } from "../support/sharded_visits.ts";
import { aShardedService, isDown } from "../support/shards.ts";
import { throughWorkerWith } from "../support/worker.ts";

interface Event {
  id: number;
  organization_id: number;
  type: string;
  data: object;
}

/** The position after all events that there are. */
async function positionNow(databases = [env.DB]): Promise<string> {
  const newest = await Promise.all(
    databases.map((database) => database.prepare("select max(id) as id from events").first("id")),
  );
  return newest.filter((id) => id !== null).join("~");
}

/** Reads to the end, as the platform does. */
async function follow(after: string, query = "", reader: Pick<Api, "get"> = platform) {
  const events: Event[] = [];
  for (;;) {
    const page = await given(reader.get(`/events?after=${after}${query}`));
    if (page.events.length === 0) return { events, next_after: after };
    events.push(...page.events);
    after = page.next_after;
  }
}

const ofOrganization = (events: Event[], { id }: Pick<Organization, "id">) =>
  events.filter(({ organization_id }) => organization_id === id);

/** The events of an organization in the external API, as the platform sees them. */
async function ownEvents({ id, client }: Organization): Promise<Event[]> {
  const { events } = await given(client.get("/events?per_page=100"));
  return events.map((event: object) => ({ ...event, organization_id: id }));
}

const renameRoom = ({ client }: Organization, { slug }: { slug: string }, name: string) =>
  given(client.put(`/waiting_rooms/${slug}`, { waiting_room: { name } }));

describe("The platform's GET /events", () => {
  it("lists the events of all organizations, as they see them, each once, whatever the size of its pages, for all types, one type and one family", async () => {
    const start = await positionNow();
    const clinics = [await anOrganization(), await anOrganization()];
    for (const clinic of clinics) {
      await aCall(clinic);
      await renameRoom(clinic, await clinic.addRoom(), "Oncology");
    }
    const { events, next_after } = await follow(start);
    for (const clinic of clinics) expect(ofOrganization(events, clinic)).toEqual(await ownEvents(clinic));
    expect(next_after).toBe(String(events.at(-1)?.id));
    expect(Object.keys(events[0] ?? {})).toEqual(["id", "organization_id", "type", "created_at", "data"]);
    for (const per_page of [1, 3, 100]) {
      expect((await follow(start, `&per_page=${per_page}`)).events).toEqual(events);
      for (const name of ["waiting_room.*", "waiting_room.updated", "participant.*", "call.ended"]) {
        const expected = events.filter(({ type }) => type.startsWith(name.replace("*", "")));
        expect(expected.length).toBeGreaterThan(0);
        const query = `&type=${name}&per_page=${per_page}`;
        expect([name, (await follow(start, query)).events]).toEqual([name, expected]);
      }
    }
  });

  it("begins with the oldest event, and returns the position that was sent if nothing has happened since", async () => {
    const clinic = await anOrganization();
    const oldest = await env.DB.prepare("select min(id) as id from events").first("id");
    const { events } = await given(platform.get("/events?per_page=1"));
    expect(events.map(({ id }: Event) => id)).toEqual([oldest]);
    expect(await given(platform.get("/events?per_page=1&after=0"))).toMatchObject({ events });
    const now = await positionNow();
    expect(await given(platform.get(`/events?after=${now}`))).toEqual({ events: [], next_after: now });
    expect(await given(platform.get(`/events?after=00${now}`))).toEqual({ events: [], next_after: now });
    const ofType = await given(platform.get(`/events?after=${now}&type=egress.*`));
    expect(ofType).toEqual({ events: [], next_after: now });
    await clinic.addRoom();
    expect((await follow(now)).events).toMatchObject([{ type: "waiting_room.created" }]);
  });

  it("refuses wrong positions with 400", async () => {
    const error = "after: must be 0, or the `next_after` of a response";
    for (const after of ["x", "-1", "1~", "1,2", "~", "1.5", "9".repeat(17)])
      expectRefusal(await platform.get(`/events?after=${after}`), 400, error);
  });

  it("is read from the primary, even with a bookmark, because a replica can lag", async () => {
    const starts = new Set<string>();
    const DB = observedDatabase({
      query(run, start) {
        starts.add(start);
        return run();
      },
    });
    const bookmark = "00000085-0000024c-00004c6d-8e61117bf38d7adb71b934ebbf891683";
    const reader = platform.through(throughWorkerWith({ DB }));
    await given(reader.send("GET", "/events", undefined, { "X-D1-Bookmark": bookmark }));
    expect([...starts]).toEqual(["first-primary"]);
  });

  it("reads only as many events as a page shows, for each type of a family", async () => {
    const clinic = await anOrganization();
    const start = await positionNow();
    await insertMany(
      10_000,
      `insert into events (organization_id, type, data, created_at)
       select ?1, iif(n % 100, 'call.updated', 'visit.missed'), '{}', n from counter`,
      clinic.id,
    );
    const counting = countingRows();
    const reader = platform.through(counting.fetcher);
    for (const [query, shown] of [
      ["", 100],
      ["&type=call.*", 100],
      ["&type=visit.*", 100],
      ["&type=visit.missed", 100],
      ["&type=consent.*", 0],
    ] as const) {
      const path = `/events?per_page=100&after=${start}${query}`;
      const { result, rows_read } = await counting.during(() => given(reader.get(path)));
      expect(result.events).toHaveLength(shown);
      expect([query, rows_read <= 100 + 5 * shown]).toEqual([query, true]);
    }
  });

  it("continues after a restore with the position from before, and shows every event since then", async () => {
    const clinic = await anOrganization();
    const room = await clinic.addRoom();
    const kept = await positionNow();
    await renameRoom(clinic, room, "Lost");
    const before = await positionNow();
    expect(Number(before)).toBeGreaterThan(Number(kept));
    const run = (statements: string[]) =>
      env.DB.batch(statements.map((statement) => env.DB.prepare(statement)));
    onTestFinished(async () => {
      await run(RESUMING_STATEMENTS);
    });
    // Back to the time before the room was renamed.
    await run([
      `delete from events where id > ${kept}`,
      `update sqlite_sequence set seq = ${kept} where name = 'events'`,
      ...QUIETING_STATEMENTS,
    ]);
    await clinic.addRoom({ name: "Oncology" });
    await clinic.addProvider();
    const { events } = await follow(before);
    expect(ofOrganization(events, clinic).map(({ type }) => type)).toEqual(
      expect.arrayContaining(["waiting_room.created", "organization_user.added"]),
    );
    expect(events).toEqual((await follow(kept)).events);
  });
});

describe("The events of several databases", () => {
  const databases = [env.DB, env.SPARE_1, env.SPARE_2];

  beforeAll(makeShards);

  it("are listed by type, for one round trip to each database", async () => {
    const service = aShardedService();
    const start = await positionNow(databases);
    const clinics = await Promise.all([1, 2].map((shard) => service.anOrganizationIn(shard)));
    for (const clinic of clinics) await renameRoom(clinic, await clinic.addRoom(), "Oncology");
    const { events } = await follow(start, "&type=waiting_room.*&per_page=1", service.platform);
    for (const clinic of clinics)
      expect(ofOrganization(events, clinic).map(({ type }) => type)).toEqual([
        "waiting_room.created",
        "waiting_room.updated",
      ]);
    for (const query of ["", "?type=visit.*"])
      expect(await service.tripsOf(() => given(service.platform.get(`/events${query}`)))).toEqual([1, 1, 1]);
  });

  it("are refused with 503 while a database is down, and then continue", async () => {
    const service = aShardedService();
    const clinics = await Promise.all([1, 2].map((shard) => service.anOrganizationIn(shard)));
    const start = await positionNow(databases);
    for (const clinic of clinics) await clinic.addRoom();
    const path = `/events?after=${start}`;
    const refused = await service.during(2, isDown, () => service.platform.get(path));
    expectRefusal(refused, 503);
    expect(refused.headers.get("Retry-After")).toBe("5");
    const { events } = await follow(start, "", service.platform);
    for (const clinic of clinics) expect(ofOrganization(events, clinic)).toHaveLength(1);
  });
});
