import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { app } from "../../src/app.ts";
import { deleteOldRows, moveOrganization } from "../../src/dev/move.ts";
import { aRoom } from "../support/clinic.ts";
import { bindingsOfShards, databasesInMemory } from "./support/busy_shards.ts";
import { openClinic, platformCredentials } from "./support/clinic_in_node.ts";
import { letMinutesPass, runIn } from "./support/moving.ts";
import { answer, type Handler, letTimePass, likeWorkers, makeRequest } from "./support/worker_in_node.ts";

likeWorkers();
letTimePass();

const SHARDS = [0, 1, 2];

interface Event {
  id: number;
  organization_id: number;
}

const send = (env: Env, method: string, path: string, headers: Record<string, string>, body?: object) =>
  answer(app.fetch as Handler, makeRequest(method, `/api/${path}`, headers, body), env);

/** An organization in the second database, with a room. */
async function aClinic(env: Env) {
  const clinic = await openClinic({ ...env, NEW_ORGANIZATIONS_SHARD: "1" } as Env);
  const path = `external${await aRoom(clinic)}`;
  /** Changes the room, which writes one event. */
  async function write(theme: string) {
    for (;;) {
      const { status } = await send(env, "PUT", path, clinic.credentials, { waiting_room: { theme } });
      if (status === 200) return;
      // The organization is moving.
      expect(status).toBe(503);
      await nextTurn();
    }
  }
  return { id: clinic.id, write };
}

/** Reads the platform's events page by page. */
function aFollower(env: Env) {
  const read: Event[] = [];
  const follower = { read, pages: 0, readPage };
  let after = "0";
  async function readPage(): Promise<number> {
    const path = `platform/events?after=${after}&per_page=3`;
    const response = await send(env, "GET", path, platformCredentials);
    const text = await response.text();
    if (response.status !== 200) throw new Error(`GET ${path} ${response.status} ${text}`);
    const page: { events: Event[]; next_after: string } = JSON.parse(text);
    read.push(...page.events);
    after = page.next_after;
    follower.pages++;
    return page.events.length;
  }
  return follower;
}

it("The platform reads each event once, in order, while an organization moves twice and comes back", async () => {
  const databases = databasesInMemory(3);
  const env = bindingsOfShards(databases, async () => void (await nextTurn()));
  const run = runIn(databases);
  const [moving, neighbour] = [await aClinic(env), await aClinic(env)];
  const follower = aFollower(env);
  let isOver = false;
  const untilFollowed = async () => {
    for (const before = follower.pages; follower.pages < before + 2 && !isOver; ) await nextTurn();
  };
  const writers = [moving, neighbour].map(async ({ write }) => {
    for (let n = 0; !isOver; n++) {
      await write(`theme-${n}`);
      await nextTurn();
    }
  });
  const following = (async () => {
    while (!isOver) if ((await follower.readPage()) === 0) await nextTurn();
  })();
  const moves = (async () => {
    for (const to of [2, 0, 1]) {
      await moveOrganization(run, { id: moving.id, to }, SHARDS);
      // Earlier requests end in the two minutes before the old rows may be deleted.
      await untilFollowed();
      letMinutesPass(databases);
      await deleteOldRows(run, moving.id, SHARDS);
    }
  })();
  // If the platform or a writer fails, the others end too.
  await Promise.race([moves, ...writers, following]).finally(() => {
    isOver = true;
  });
  await Promise.all([moves, ...writers, following]);
  while ((await follower.readPage()) > 0);
  for (const { id } of [moving, neighbour]) {
    const stored = databases[1]
      ?.prepare("select id from events where organization_id = ? order by id")
      .all(id);
    expect(stored?.length).toBeGreaterThan(10);
    const own = follower.read.filter((event) => event.organization_id === id);
    expect(own.map((event) => ({ id: event.id }))).toEqual(stored);
  }
  expect(new Set(follower.read.map(({ id }) => id)).size).toBe(follower.read.length);
});
