import type { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { RANGE } from "../../src/database/shards.ts";
import { deleteOldRows, moveOrganization, undoMove } from "../../src/dev/move.ts";
import { planDeletion, planMove } from "../../src/dev/move_plans.ts";
import { mark, markAsArriving, switchTo, takeRange } from "../../src/dev/move_statements.ts";
import { copyLateFiles, deleteOldFiles } from "../../src/dev/old_files.ts";
import { QUIET_STATE, QUIETING_STATEMENTS, RESUMING_STATEMENTS } from "../../src/dev/quiet_statements.ts";
import type { Run } from "../../src/dev/statement_runner.ts";
import {
  digestsOf,
  dyingAfter,
  homesOf,
  letMinutesPass,
  listTotalsOf,
  triggersOf,
  twoOrganizations,
  twoRegions,
} from "./support/moving.ts";

const ID = 1;
const NEIGHBOUR = 2;
const SHARDS = [0, 1, 2];

describe("moveOrganization", () => {
  it("copies the rows of every table, and changes nothing of other organizations", async () => {
    const { databases, run } = twoOrganizations();
    const [first, second] = databases;
    // As JSON, this is longer than a parameter may be.
    first.exec(
      `update call_texts set lines = randomblob(900000) where id = (select min(id) from call_texts where kind = 'transcript' and organization_id = ${ID})`,
    );
    const [mine, theirs] = [digestsOf(first, ID), digestsOf(first, NEIGHBOUR)];
    const lists = listTotalsOf(first, ID);
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
    await expect(deleteOldRows(run, ID, SHARDS)).rejects.toThrow("wait two minutes");
    letMinutesPass(databases);
    await deleteOldRows(run, ID, SHARDS);
    expect(triggersOf(first)).toEqual(triggers[0]);
    expect(digestsOf(first, NEIGHBOUR)).toEqual(theirs);
    expect(listTotalsOf(first, ID)).toEqual([]);
    for (const { count } of Object.values(digestsOf(first, ID))) expect(count).toBe(0);
    expect(first.prepare("pragma foreign_key_check").all()).toEqual([]);
  });

  it("moves files between regions and back, without those that were deleted meanwhile, and deletes the old ones", async () => {
    const { databases, run } = twoOrganizations();
    const { inRegions, usRecordings, usDays, euRecordings, euDays } = twoRegions();
    const reads: (string | undefined)[] = [];
    const regions = inRegions((key) => reads.push(key));
    const move = (to: number) => moveOrganization(run, { id: ID, to }, SHARDS, undefined, regions);
    const moved = { id: ID, run, shards: SHARDS, regions };
    usRecordings.set("clinic1/old.wav", "old");
    usRecordings.set("clinic1/kept.wav", "kept");
    usRecordings.set("clinic2/visit.wav", "of a neighbour");
    usDays.set("1/2026-01-31.ndjson.gz", "sealed");
    expect((await planMove(run, { id: ID, to: 1 }, false, regions))[1]).toContain("copy its 3 files (1 MB)");
    await move(1);
    // Its storage names no digest, so it was read to be copied. It was not read again while writes were refused.
    expect(reads.filter((key) => key === "clinic1/kept.wav")).toHaveLength(1);
    // The service deletes a recording, the recorder still writes to the old bucket, and a day is sealed.
    databases[1].exec(`insert into egress_files (organization_id, storage_key, egress_id, is_deleted)
      select ${ID}, 'clinic1/old.wav', egress_id, 1 from egress_files limit 1`);
    euRecordings.delete("clinic1/old.wav");
    usRecordings.set("clinic1/late.wav", "late");
    euDays.set("1/2026-02-01.ndjson.gz", "sealed too");
    expect(await copyLateFiles(moved, () => {})).toBe(1);
    expect([...euRecordings.keys()]).toEqual(["clinic1/kept.wav", "clinic1/late.wav"]);
    letMinutesPass(databases);
    usRecordings.set("clinic1/last.wav", "last");
    await undoMove(run, { id: ID, to: 0 }, regions);
    expect([...usRecordings.keys()]).toEqual(["clinic2/visit.wav", "clinic1/last.wav"]);
    await move(0);
    usRecordings.delete("clinic1/last.wav");
    expect([...usRecordings.keys()].toSorted()).toEqual([
      "clinic1/kept.wav",
      "clinic1/late.wav",
      "clinic2/visit.wav",
    ]);
    expect([...usDays.keys()]).toEqual(["1/2026-01-31.ndjson.gz", "1/2026-02-01.ndjson.gz"]);
    await expect(deleteOldFiles(moved)).rejects.toThrow("wait 17 minutes");
    letMinutesPass(databases);
    expect((await planDeletion(moved)).slice(0, 2)).toMatchObject([
      expect.stringContaining("came late to the region eu"),
      expect.stringContaining("the 4 files (1 MB)"),
    ]);
    euRecordings.set("clinic1/later.wav", "later");
    await deleteOldFiles(moved);
    expect([euRecordings.size, euDays.size, usRecordings.size]).toEqual([0, 0, 4]);
    expect(usRecordings.get("clinic1/later.wav")).toBe("later");
  });

  it("begins no more copies after one has failed", async () => {
    const { run } = twoOrganizations();
    const { inRegions, usRecordings } = twoRegions();
    for (let n = 10; n < 40; n++) usRecordings.set(`clinic1/${n}.wav`, "recording");
    let begun = 0;
    const regions = inRegions((key) => {
      if (key) begun++;
      if (key === "clinic1/10.wav") throw new Error("unreachable");
    });
    const moving = moveOrganization(run, { id: ID, to: 1 }, SHARDS, undefined, regions);
    await expect(moving).rejects.toThrow("unreachable");
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(begun).toBeLessThan(12);
  });

  it("continues with higher ids than the organization ever had, even if it moves back", async () => {
    const { databases, run } = twoOrganizations();
    const newestEventIn = (database: DatabaseSync) =>
      Number(database.prepare("select max(id) as id from events where organization_id = ?").get(ID)?.id);
    let highest = newestEventIn(databases[0]);
    const triggers = databases.map(triggersOf);
    for (const to of [1, 0, 2, 1]) {
      letMinutesPass(databases);
      await moveOrganization(run, { id: ID, to }, SHARDS);
      const database = databases[to] as DatabaseSync;
      database.exec(
        `insert into events (organization_id, type, data, created_at) values (${ID}, 'call.ended', '{}', 1)`,
      );
      const id = newestEventIn(database);
      expect(Math.floor(id / RANGE)).toBeGreaterThan(Math.floor(highest / RANGE));
      highest = id;
      expect(homesOf(databases, ID)).toEqual([to]);
      expect(triggersOf(database)).toEqual(triggers[to]);
    }
  });

  it("does not block a restore of the database that the organization leaves, or has left", async () => {
    const { databases, run } = twoOrganizations();
    const [first] = databases;
    const marks = () => first.prepare("select * from moves").all();
    const isQuiet = async () => Boolean((await run(0, [QUIET_STATE]))[0]?.[0]?.is_quiet);
    await expect(moveOrganization(dyingAfter(30, run), { id: ID, to: 1 }, SHARDS)).rejects.toThrow("killed");
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
    letMinutesPass(databases);
    await deleteOldRows(run, ID, SHARDS);
  });

  it("ignores late statements of runs that were killed, taken over or undone, and changes nothing when it is repeated", async () => {
    const { databases, run } = twoOrganizations();
    const [, second] = databases;
    const late = switchTo({ id: ID, to: 1, since: 5 }, Date.now());
    for (const since of [5, 7]) await run(0, [mark(ID, since)]);
    expect(await run(0, [late])).toEqual([[]]);
    await undoMove(run, { id: ID, to: 1 });
    expect(await run(0, [late])).toEqual([[]]);
    expect(homesOf(databases, ID)).toEqual([0]);
    await moveOrganization(run, { id: ID, to: 1 }, SHARDS);
    const there = digestsOf(second, ID);
    await run(1, [markAsArriving(ID, 0)]);
    expect(homesOf(databases, ID)).toEqual([1]);
    // A restore of the second database to the middle of the move would leave this row.
    second.exec(`insert into moves (organization_id, shard, since) values (${ID}, 0, 0)`);
    await expect(moveOrganization(run, { id: ID, to: 1 }, SHARDS)).rejects.toThrow("Nothing was done");
    expect(digestsOf(second, ID)).toEqual(there);
    // Two runs at once only raise the range.
    for (const range of [17, 15]) await run(1, takeRange(1, range));
    const ranges = second.prepare("select value from database_settings where name = 'range'").all();
    expect(ranges).toEqual([{ value: 17 }]);
  });

  it("waits until running mails and webhooks are recorded, and allows writes until then", async () => {
    const { databases, run } = twoOrganizations();
    const [first] = databases;
    const later = Date.now() + 60_000;
    first.exec(`update webhook_endpoints set lease_until = ${later} where organization_id = ${ID}`);
    let waits = 0;
    const recording: Run = async (shard, statements) => {
      if (JSON.stringify(statements).includes("mail_leases > 0") && waits++ === 1)
        first.exec(`update webhook_endpoints set lease_until = null where organization_id = ${ID}`);
      return run(shard, statements);
    };
    const said: string[] = [];
    await moveOrganization(recording, { id: ID, to: 1 }, SHARDS, (line) => said.push(line));
    expect(waits).toBe(2);
    expect(said).toContain("A mail or a webhook of the organization is being sent: waiting for its end.");
    expect(databases[1].prepare("select 1 from webhook_endpoints where lease_until > 0").all()).toEqual([]);
  });

  it("is refused while the old rows may be in use, while a database is quiet, and after a switch to another one", async () => {
    const { databases, run } = twoOrganizations();
    const move = (to: number, through = run) => moveOrganization(through, { id: ID, to }, SHARDS);
    await expect(moveOrganization(run, { id: 77, to: 1 }, SHARDS)).rejects.toThrow(
      "There is no organization 77",
    );
    databases[1].exec("insert into database_settings values ('quiet', 1)");
    await expect(move(1)).rejects.toThrow("is quiet");
    databases[1].exec("delete from database_settings where name = 'quiet'");
    await move(1);
    await expect(move(0)).rejects.toThrow("wait two minutes");
    await expect(undoMove(run, { id: ID, to: 1 })).rejects.toThrow("has moved");
    databases[0].exec(`update places set shard = 0 where id = ${ID}`);
    await expect(undoMove(run, { id: ID, to: 1 })).rejects.toThrow("has moved");
    await expect(move(2)).rejects.toThrow("complete that move, with --to 1");
    expect(await move(1)).toBeNull();
    expect(databases[0].prepare("select shard from places where id = ?").get(ID)).toEqual({ shard: 1 });
  });

  it("allows writes again at once if a row cannot be copied", async () => {
    const { databases, run } = twoOrganizations();
    const [first, second] = databases;
    const before = digestsOf(first, ID);
    const triggers = [triggersOf(first), triggersOf(second)];
    const [call] = first.prepare("select id from calls where organization_id = ?").all(ID);
    second.exec(`pragma foreign_keys = off; insert into calls (id, organization_id, key, organization_user_id, waiting_room_id,
      started_at, created_at, updated_at) values (${call?.id}, 9, 'other', 9, 9, 1, 1, 1); pragma foreign_keys = on`);
    await expect(moveOrganization(run, { id: ID, to: 1 }, SHARDS)).rejects.toThrow("UNIQUE");
    expect(homesOf(databases, ID)).toEqual([0]);
    expect(digestsOf(first, ID)).toEqual(before);
    expect([triggersOf(first), triggersOf(second)]).toEqual(triggers);
    for (const { count } of Object.values(digestsOf(second, ID))) expect(count).toBe(0);
    first.exec(`update organizations set name = 'Renamed' where id = ${ID}`);
  });
});
