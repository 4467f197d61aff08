import type { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { app } from "../../src/app.ts";
import { deleteOldRows, moveOrganization } from "../../src/dev/move.ts";
import { aRoom } from "../support/clinic.ts";
import { bindingsOfShards, databasesInMemory } from "./support/busy_shards.ts";
import { type ClinicInNode, openClinic, platformCredentials } from "./support/clinic_in_node.ts";
import { letMinutesPass, runIn } from "./support/moving.ts";
import { answer, type Handler, letTimePass, likeWorkers, makeRequest } from "./support/worker_in_node.ts";

likeWorkers();
letTimePass();

const SHARDS = [0, 1, 2];

interface Event {
  id: number;
  organization_id: number;
}

/** Two organizations in the second of three databases. Both write, and the platform follows. */
async function aFollowedService() {
  const databases = databasesInMemory(3);
  const env = bindingsOfShards(databases, async () => void (await nextTurn()));
  const open = async () => {
    const clinic = await openClinic({ ...env, NEW_ORGANIZATIONS_SHARD: "1" } as Env);
    return { ...clinic, room: await aRoom(clinic) };
  };
  const [clinic, neighbour] = [await open(), await open()];
  const read: Event[] = [];
  let after = "0";
  let pages = 0;

  const send = (method: string, path: string, headers: Record<string, string>, body?: object) =>
    answer(app.fetch as Handler, makeRequest(method, `/api/${path}`, headers, body), env);

  /** Changes the organization's room, which writes one event. */
  async function write({ credentials, room }: typeof clinic, theme: string) {
    for (;;) {
      const { status } = await send("PUT", `external${room}`, credentials, { waiting_room: { theme } });
      if (status === 200) return;
      // The organization is moving.
      expect(status).toBe(503);
      await nextTurn();
    }
  }

  async function readPage(per_page = 3) {
    const path = `platform/events?after=${after}&per_page=${per_page}`;
    const response = await send("GET", path, platformCredentials);
    const text = await response.text();
    if (response.status !== 200) throw new Error(`GET ${path} ${response.status} ${text}`);
    const page: { events: Event[]; next_after: string } = JSON.parse(text);
    read.push(...page.events);
    after = page.next_after;
    pages++;
    return page.events;
  }

  async function readToTheEnd() {
    while ((await readPage()).length > 0);
  }

  return {
    databases,
    run: runIn(databases),
    clinic,
    neighbour,
    read,
    write,
    readPage,
    readToTheEnd,
    pages: () => pages,
  };
}

const idsOf = (database: DatabaseSync | undefined, { id }: ClinicInNode) =>
  database
    ?.prepare("select id from events where organization_id = ? order by id")
    .all(id)
    .map((row) => Number(row.id));

const ofOrganization = (events: Event[], { id }: ClinicInNode) =>
  events.filter(({ organization_id }) => organization_id === id).map((event) => event.id);

it("The platform reads each event once, in order, while an organization moves twice and comes back", async () => {
  const service = await aFollowedService();
  const { databases, run, clinic, neighbour, read } = service;
  let isOver = false;
  const untilFollowed = async () => {
    for (const before = service.pages(); service.pages() < before + 2 && !isOver; ) await nextTurn();
  };
  const writers = [clinic, neighbour].map(async (each) => {
    for (let n = 0; !isOver; n++) {
      await service.write(each, `theme-${n}`);
      await nextTurn();
    }
  });
  const follower = (async () => {
    while (!isOver) {
      if ((await service.readPage()).length === 0) await nextTurn();
    }
  })();
  const moves = (async () => {
    for (const to of [2, 0, 1]) {
      await moveOrganization(run, { id: clinic.id, to }, SHARDS);
      // Earlier requests end in the two minutes before the old rows may be deleted.
      await untilFollowed();
      letMinutesPass(databases);
      await deleteOldRows(run, clinic.id, SHARDS);
    }
  })();
  // If the platform or a writer fails, the others end too.
  await Promise.race([moves, ...writers, follower]).finally(() => {
    isOver = true;
  });
  await Promise.all([moves, ...writers, follower]);
  await service.readToTheEnd();
  for (const each of [clinic, neighbour]) {
    const own = idsOf(databases[1], each);
    expect(own?.length).toBeGreaterThan(10);
    expect(ofOrganization(read, each)).toEqual(own);
  }
  expect(new Set(read.map(({ id }) => id)).size).toBe(read.length);
});
