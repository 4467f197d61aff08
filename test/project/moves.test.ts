import type { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { RANGE } from "../../src/database/shards.ts";
import { deleteOldRows, moveOrganization, undoMove } from "../../src/dev/move.ts";
import { databasesInMemory } from "./support/busy_shards.ts";
import { writeRowsInEveryTable } from "./support/every_table.ts";
import {
  digestsOf,
  dyingAfter,
  homesOf,
  listTotalsOf,
  runIn,
  scaffoldingIn,
  triggersOf,
} from "./support/moving.ts";

const ID = 1;
const NEIGHBOUR = 2;
const SHARDS = [0, 1, 2];

/** Three databases, of which the first has two organizations with rows in every table. */
function aService() {
  const databases = databasesInMemory(3) as [DatabaseSync, DatabaseSync, DatabaseSync];
  const [first] = databases;
  first.exec("insert into database_settings values ('quiet', 1)");
  writeRowsInEveryTable(first);
  first.exec("delete from database_settings where name = 'quiet'; delete from moves");
  first.exec(
    "update organizations set slug = 'clinic' || id; update waiting_room_slugs set slug = 'clinic' || organization_id || '--' || slug",
  );
  first.exec("update places set shard = 0");
  return { databases, run: runIn(databases) };
}

describe("An organization that moves to another database", () => {
  it("has the same rows there, in every table, and its neighbours notice nothing", async () => {
    const { databases, run } = aService();
    const [first, second] = databases;
    const [mine, theirs, lists] = [
      digestsOf(first, ID),
      digestsOf(first, NEIGHBOUR),
      listTotalsOf(first, ID),
    ];
    const triggers = [triggersOf(first), triggersOf(second)];
    for (const [table, { count }] of Object.entries(mine)) expect([table, count > 0]).toEqual([table, true]);

    const moved = await moveOrganization(run, { id: ID, to: 1 }, SHARDS);

    expect(moved?.rows).toBeGreaterThan(100);
    expect(digestsOf(second, ID)).toEqual(mine);
    expect(listTotalsOf(second, ID)).toEqual(lists);
    expect(digestsOf(first, ID)).toEqual(mine);
    expect(digestsOf(first, NEIGHBOUR)).toEqual(theirs);
    expect(second.prepare("pragma foreign_key_check").all()).toEqual([]);
    expect(homesOf(databases, ID)).toEqual([1]);
    expect(first.prepare("select shard from places where id = ?").get(ID)).toEqual({ shard: 1 });
    expect(triggersOf(second)).toEqual(triggers[1]);
    expect(scaffoldingIn(second)).toEqual([]);
    expect(scaffoldingIn(first).every((name) => name.startsWith(`freeze_${ID}_`))).toBe(true);
    await deleteOldRows(run, ID, SHARDS);
    expect(triggersOf(first)).toEqual(triggers[0]);
    expect(digestsOf(first, NEIGHBOUR)).toEqual(theirs);
    expect(listTotalsOf(first, ID)).toEqual([]);
    for (const { count } of Object.values(digestsOf(first, ID))) expect(count).toBe(0);
    expect(first.prepare("pragma foreign_key_check").all()).toEqual([]);
  });

  it("gets higher ids there than it ever had, also where it goes back", async () => {
    const { databases, run } = aService();
    const idsIn = ({ length: _ }: object, database: DatabaseSync) =>
      Number(database.prepare("select max(id) as id from events where organization_id = ?").get(ID)?.id);
    let highest = idsIn({ length: 0 }, databases[0]);
    for (const to of [1, 0, 2, 1]) {
      await deleteOldRows(run, ID, SHARDS);
      await moveOrganization(run, { id: ID, to }, SHARDS);
      const database = databases[to] as DatabaseSync;
      database
        .prepare(
          "insert into events (organization_id, type, data, created_at) values (?, 'call.ended', '{}', 1)",
        )
        .run(ID);
      const id = idsIn({ length: 0 }, database);
      expect(Math.floor(id / RANGE)).toBeGreaterThan(Math.floor(highest / RANGE));
      highest = id;
      expect(homesOf(databases, ID)).toEqual([to]);
    }
  });

  it("is refused where its old rows are still there, or the databases are quiet, or a move to another one has begun", async () => {
    const { databases, run } = aService();
    const move = (to: number, through = run) => moveOrganization(through, { id: ID, to }, SHARDS);
    await expect(moveOrganization(run, { id: 77, to: 1 }, SHARDS)).rejects.toThrow(
      "There is no organization 77",
    );
    await expect(move(2, dyingAfter(12, run))).rejects.toThrow("killed");
    await expect(move(1)).rejects.toThrow("A move to shard 2 has begun");
    await undoMove(run, { id: ID, to: 2 });
    databases[1].exec("insert into database_settings values ('quiet', 1)");
    await expect(move(1)).rejects.toThrow("is quiet");
    databases[1].exec("delete from database_settings where name = 'quiet'");
    await move(1);
    await expect(move(0)).rejects.toThrow("delete them first, with --delete-old");
    await expect(undoMove(run, { id: ID, to: 1 })).rejects.toThrow("has moved to shard 1");
  });

  it("is in one place and loses nothing, at whatever step its move is killed: the same command goes on, or takes it back", async () => {
    const { databases, run } = aService();
    const [first, second] = databases;
    const before = digestsOf(first, ID);
    const triggers = [triggersOf(first), triggersOf(second)];
    let undone = 0;
    for (let batches = 0, done = false; !done; batches++) {
      const attempt = moveOrganization(dyingAfter(batches, run), { id: ID, to: 1 }, SHARDS);
      done = await attempt.then(
        () => true,
        () => false,
      );
      expect([batches, homesOf(databases, ID).length <= 1]).toEqual([batches, true]);
      expect(digestsOf(first, ID)).toEqual(before);
      if (homesOf(databases, ID)[0] === 1) break;
      await undoMove(run, { id: ID, to: 1 });
      undone++;
      expect(homesOf(databases, ID)).toEqual([0]);
      expect([triggersOf(first), triggersOf(second)]).toEqual(triggers);
      expect(scaffoldingIn(second)).toEqual([]);
      expect(digestsOf(second, ID).calls?.count).toBe(0);
    }
    expect(undone).toBeGreaterThan(30);
    await moveOrganization(run, { id: ID, to: 1 }, SHARDS);
    expect(digestsOf(second, ID)).toEqual(before);
  });

  it("arrives whole, however often its move is killed and begun again", async () => {
    const { databases, run } = aService();
    const [first, second] = databases;
    const before = digestsOf(first, ID);
    // Each attempt comes a little farther than what it must do again.
    for (let batches = 1; homesOf(databases, ID)[0] !== 1; batches++) {
      await moveOrganization(dyingAfter(batches, run), { id: ID, to: 1 }, SHARDS).catch(() => {});
      expect(homesOf(databases, ID).length).toBeLessThanOrEqual(1);
      expect(batches).toBeLessThan(200);
    }
    await moveOrganization(run, { id: ID, to: 1 }, SHARDS);
    expect(digestsOf(second, ID)).toEqual(before);
    expect(first.prepare("select shard from places where id = ?").get(ID)).toEqual({ shard: 1 });
    expect(first.prepare("select shard from moves where organization_id = ?").get(ID)).toEqual({ shard: 1 });
  });
});
