import type { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { RANGE } from "../../src/database/shards.ts";
import { deleteOldRows, moveOrganization, undoMove } from "../../src/dev/move.ts";
import { markAsArriving, takeRange } from "../../src/dev/move_statements.ts";
import { QUIET_STATE, QUIETING_STATEMENTS, RESUMING_STATEMENTS } from "../../src/dev/quiet_statements.ts";
import {
  digestsOf,
  dyingAfter,
  homesOf,
  listTotalsOf,
  scaffoldingIn,
  triggersOf,
  twoOrganizations,
} from "./support/moving.ts";

const ID = 1;
const NEIGHBOUR = 2;
const SHARDS = [0, 1, 2];

describe("An organization that moves to another database", () => {
  it("has the same rows there, in every table, and its neighbours notice nothing", async () => {
    const { databases, run } = twoOrganizations();
    const [first, second] = databases;
    // Longer than a parameter may be, as JSON.
    first.exec(
      `update call_texts set lines = randomblob(900000) where kind = 'transcript' and organization_id = ${ID}`,
    );
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
    await deleteOldRows(run, ID, SHARDS);
    expect(triggersOf(first)).toEqual(triggers[0]);
    expect(scaffoldingIn(first)).toEqual([]);
    expect(digestsOf(first, NEIGHBOUR)).toEqual(theirs);
    expect(listTotalsOf(first, ID)).toEqual([]);
    for (const { count } of Object.values(digestsOf(first, ID))) expect(count).toBe(0);
    expect(first.prepare("pragma foreign_key_check").all()).toEqual([]);
  });

  it("gets higher ids there than it ever had, also where it goes back", async () => {
    const { databases, run } = twoOrganizations();
    const newestEventIn = (database: DatabaseSync) =>
      Number(database.prepare("select max(id) as id from events where organization_id = ?").get(ID)?.id);
    let highest = newestEventIn(databases[0]);
    for (const to of [1, 0, 2, 1]) {
      await deleteOldRows(run, ID, SHARDS);
      await moveOrganization(run, { id: ID, to }, SHARDS);
      const database = databases[to] as DatabaseSync;
      database
        .prepare(
          "insert into events (organization_id, type, data, created_at) values (?, 'call.ended', '{}', 1)",
        )
        .run(ID);
      const id = newestEventIn(database);
      expect(Math.floor(id / RANGE)).toBeGreaterThan(Math.floor(highest / RANGE));
      highest = id;
      expect(homesOf(databases, ID)).toEqual([to]);
    }
  });

  it("does not stand in the way of a restore of the database that it leaves, or has left", async () => {
    const { databases, run } = twoOrganizations();
    const [first] = databases;
    const marks = () => first.prepare("select * from moves").all();
    const isQuiet = async () => Boolean((await run(0, [QUIET_STATE]))[0]?.[0]?.is_quiet);
    await expect(moveOrganization(dyingAfter(60, run), { id: ID, to: 1 }, SHARDS)).rejects.toThrow("killed");
    for (const shard of [null, 1]) {
      const before = marks();
      expect(before).toMatchObject([{ organization_id: ID, shard }]);
      await run(0, QUIETING_STATEMENTS);
      expect(await isQuiet()).toBe(true);
      await run(0, RESUMING_STATEMENTS);
      expect(await isQuiet()).toBe(false);
      expect(marks()).toEqual(before);
      await moveOrganization(run, { id: ID, to: 1 }, SHARDS);
    }
    expect(homesOf(databases, ID)).toEqual([1]);
    await deleteOldRows(run, ID, SHARDS);
  });

  it("is not taken for arriving by what comes late of a run that was killed, and stays as it is when it is moved again", async () => {
    const { databases, run } = twoOrganizations();
    const [, second] = databases;
    await moveOrganization(run, { id: ID, to: 1 }, SHARDS);
    const there = digestsOf(second, ID);
    await run(1, [markAsArriving({ id: ID, to: 1 }, "clinic1")]);
    expect(homesOf(databases, ID)).toEqual([1]);
    // As a restore of the second database to the middle of the move would leave it.
    second.exec(`insert into moves (organization_id, slug) values (${ID}, 'clinic1')`);
    await expect(moveOrganization(run, { id: ID, to: 1 }, SHARDS)).rejects.toThrow("Nothing was done");
    expect(digestsOf(second, ID)).toEqual(there);
  });

  it("comes to a database whose range only grows, also where two come at once", async () => {
    const { databases, run } = twoOrganizations();
    for (const range of [7, 5]) await run(1, takeRange(1, range));
    const settings = databases[1].prepare("select name, value from database_settings order by name").all();
    expect(settings).toEqual([
      { name: "range", value: 7 },
      { name: "shard", value: 1 },
    ]);
  });

  it("is refused where its old rows are still there, or the databases are quiet, or a move to another one has begun", async () => {
    const { databases, run } = twoOrganizations();
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
});
