import { describe, expect, it } from "vitest";
import { RANGE } from "../../src/database/shards.ts";
import { moveOrganization, undoMove } from "../../src/dev/move.ts";
import {
  digestsOf,
  dyingAfter,
  homesOf,
  scaffoldingIn,
  triggersOf,
  twoOrganizations,
} from "./support/moving.ts";

const ID = 1;
const SHARDS = [0, 1, 2];

describe("An organization whose move is killed", () => {
  it("is in one place and loses nothing, at whatever step, and the same command takes the move back or goes on", async () => {
    const { databases, run } = twoOrganizations();
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
      const undoing = undoMove(run, { id: ID, to: 1 });
      if (databases[0].prepare("select 1 from moves where attempt = 'decided'").get()) {
        await expect(undoing).rejects.toThrow("The move is decided");
        break;
      }
      await undoing;
      undone++;
      expect(homesOf(databases, ID)).toEqual([0]);
      expect([triggersOf(first), triggersOf(second)]).toEqual(triggers);
      expect(scaffoldingIn(second)).toEqual([]);
      expect(digestsOf(second, ID).calls?.count).toBe(0);
      // What came in and was deleted again has left no trace in the ids that come next.
      const range = first.prepare("select range from shards where shard = 1").get()?.range;
      expect(second.prepare("select value from database_settings where name = 'range'").get()?.value).toBe(
        range,
      );
      for (const { seq } of second
        .prepare("select seq from sqlite_sequence where name <> 'd1_migrations'")
        .all())
        expect(Math.floor(Number(seq) / RANGE)).toBe(range);
    }
    expect(undone).toBeGreaterThan(30);
    // As if a last write of the run that was killed had come late.
    second.exec(`delete from moved_${ID}_participants`);
    await moveOrganization(run, { id: ID, to: 1 }, SHARDS);
    expect(digestsOf(second, ID)).toEqual(before);
  });

  it("arrives whole, however often its move is killed and begun again", async () => {
    const { databases, run } = twoOrganizations();
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
