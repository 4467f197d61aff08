import { describe, expect, it } from "vitest";
import { RANGE } from "../../src/database/shards.ts";
import { moveOrganization, undoMove } from "../../src/dev/move.ts";
import type { Run } from "../../src/dev/statement_runner.ts";
import {
  digestsOf,
  dyingAfter,
  homesOf,
  livingFor,
  triggersOf,
  twoOrganizations,
  twoRegions,
} from "./support/moving.ts";

const ID = 1;
const SHARDS = [0, 1, 2];

describe("moveOrganization, killed at any step,", () => {
  it("keeps the organization in one place without loss, and can be undone or completed", async () => {
    const { databases, run } = twoOrganizations();
    const [first, second] = databases;
    const before = digestsOf(first, ID);
    const triggers = [triggersOf(first), triggersOf(second)];
    const { inRegions, usRecordings, usDays, euRecordings, euDays } = twoRegions();
    for (let n = 0; n < 3; n++) usRecordings.set(`clinic1/visit-${n}.wav`, `recording ${"x".repeat(n)}`);
    usRecordings.set("clinic2/visit.wav", "of a neighbour");
    usDays.set("1/2026-01-31.ndjson.gz", "sealed");
    const [recordings, days] = [new Map(usRecordings), new Map(usDays)];
    const mine = [...recordings].filter(([key]) => key.startsWith("clinic1/"));
    let undone = 0;
    for (let batches = 0, done = false; !done; batches++) {
      const live = livingFor(batches);
      const through = dyingAfter(batches, run, live);
      const attempt = moveOrganization(through, { id: ID, to: 1 }, SHARDS, undefined, inRegions(live));
      done = await attempt.then(
        () => true,
        () => false,
      );
      expect([batches, homesOf(databases, ID).length <= 1]).toEqual([batches, true]);
      expect(digestsOf(first, ID)).toEqual(before);
      expect([usRecordings, usDays]).toEqual([recordings, days]);
      if (homesOf(databases, ID)[0] === 1) break;
      const undoing = undoMove(run, { id: ID, to: 1 }, inRegions());
      if (first.prepare("select 1 from moves where shard = 1").get()) {
        await expect(undoing).rejects.toThrow("has moved");
        break;
      }
      await undoing;
      undone++;
      expect([euRecordings.size, euDays.size]).toEqual([0, 0]);
      expect(homesOf(databases, ID)).toEqual([0]);
      expect([triggersOf(first), triggersOf(second)]).toEqual(triggers);
      expect(first.prepare("select * from moves").all()).toEqual([]);
      expect(second.prepare("select * from moves").all()).toEqual([]);
      expect(digestsOf(second, ID).calls?.count).toBe(0);
      // Rows that came in and were deleted again leave no trace in the next ids.
      const range = first.prepare("select range from shards where shard = 1").get()?.range;
      const taken = second.prepare("select value from database_settings where name = 'range'").get();
      expect(taken?.value).toBe(range);
      const sequences = second.prepare("select seq from sqlite_sequence where name <> 'd1_migrations'").all();
      for (const { seq } of sequences) expect(Math.floor(Number(seq) / RANGE)).toBe(range);
    }
    expect(undone).toBeGreaterThan(30);
    await moveOrganization(run, { id: ID, to: 1 }, SHARDS, undefined, inRegions());
    expect(digestsOf(second, ID)).toEqual(before);
    expect([[...euRecordings], euDays]).toEqual([mine, days]);
  });

  it("completes at the next attempt, even if undoing it was killed", async () => {
    for (let batches = 0, isOver = false; !isOver; batches += 7) {
      const { databases, run } = twoOrganizations();
      const [first, second] = databases;
      const before = digestsOf(first, ID);
      const move = (through: Run) => moveOrganization(through, { id: ID, to: 1 }, SHARDS);
      isOver = await move(dyingAfter(batches, run)).then(
        () => true,
        () => false,
      );
      expect(homesOf(databases, ID).length).toBeLessThanOrEqual(1);
      await undoMove(dyingAfter(batches % 13, run), { id: ID, to: 1 }).catch(() => {});
      await move(run);
      expect(homesOf(databases, ID)).toEqual([1]);
      expect(digestsOf(second, ID)).toEqual(before);
      for (const query of [
        "select shard from places where id = ?",
        "select shard from moves where organization_id = ?",
      ])
        expect(first.prepare(query).get(ID)).toEqual({ shard: 1 });
    }
  });
});
