import type { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { moveOrganization } from "../../src/dev/move.ts";
import { deleteOrganization, openLeaving, unfreeze } from "../../src/dev/organization_deletion.ts";
import { countRows } from "../../src/dev/organization_rows.ts";
import type { Run } from "../../src/dev/statement_runner.ts";
import {
  digestsOf,
  dyingAfter,
  fillOrganization,
  listTotalsOf,
  triggersOf,
  twoOrganizations,
} from "./support/moving.ts";

const ID = 1;
const NEIGHBOUR = 2;
const SHARDS = [0, 1, 2];

const BEGIN_HOLD = `insert into legal_holds (organization_id, call_id, begun_by, began_at)
  select organization_id, call_id, begun_by, 3 from legal_holds where organization_id = ${ID} limit 1`;

/** Two organizations, of which the first is suspended and has no legal hold. */
function oneLeaves() {
  const scene = twoOrganizations();
  const [first] = scene.databases;
  first.exec(`update organizations set is_suspended = 1 where id = ${ID}; update places set slug = 'clinic' || id;
    update legal_holds set ended_at = 2 where organization_id = ${ID} and ended_at is null`);
  return scene;
}

const NOTHING = { deleteFiles: () => expect.unreachable(), keep: () => expect.unreachable() };

/** Deletes the organization, and returns the prefixes of the deleted files and the rows that were kept. */
async function leave(run: Run, shards = SHARDS) {
  const prefixes: string[] = [];
  const kept: { id: number; jws?: string }[] = [];
  await deleteOrganization(await openLeaving(run, ID, shards), {
    deleteFiles: async (prefix) => void prefixes.push(prefix),
    keep: async (lines) => {
      for await (const line of lines) kept.push(JSON.parse(line));
    },
  });
  return { prefixes, kept };
}

const tablesWithRows = (databases: DatabaseSync[]) =>
  databases.flatMap((database) =>
    Object.entries(digestsOf(database, ID)).flatMap(([table, { count }]) => (count > 0 ? [table] : [])),
  );

/** Everything of the organization that a run could change. */
const stateOf = (databases: DatabaseSync[]) => [
  databases.map((each) => digestsOf(each, ID)),
  databases.map(triggersOf),
  databases[0]?.prepare("select * from moves").all(),
  databases[0]?.prepare("select deleted_at from places where id = ?").all(ID),
];

async function expectRefused(databases: DatabaseSync[], run: () => Promise<unknown>, text: string) {
  const before = stateOf(databases);
  await expect(run()).rejects.toThrow(text);
  expect(stateOf(databases)).toEqual(before);
}

function expectGone(databases: DatabaseSync[]) {
  expect(tablesWithRows(databases)).toEqual([]);
  for (const database of databases) {
    expect(database.prepare("select * from moves where organization_id = ?").all(ID)).toEqual([]);
    expect(database.prepare("pragma foreign_key_check").all()).toEqual([]);
    expect(listTotalsOf(database, ID)).toEqual([]);
  }
  const place = "select slug, deleted_at is not null as is_deleted from places where id = ?";
  expect(databases[0]?.prepare(place).get(ID)).toEqual({ slug: `clinic${ID}`, is_deleted: 1 });
}

describe("deleteOrganization", () => {
  it("deletes all rows and files, keeps every seal and unsealed entry of the access log, and changes nothing of others", async () => {
    const { databases, run } = oneLeaves();
    const [first] = databases;
    fillOrganization(first, ID, { rows: 5000, hours: 1 });
    const theirs = digestsOf(first, NEIGHBOUR);
    const triggers = databases.map(triggersOf);
    const idsOf = (query: string) => first.prepare(query).all(ID);
    const sealed = "(select max(last_id) from access_log_seals where organization_id = ?1)";
    const entries = idsOf(
      `select id from access_logs where organization_id = ?1 and id > ${sealed} order by id`,
    );
    const seals = idsOf("select id from access_log_seals where organization_id = ? order by id");
    expect(entries.length).toBeGreaterThan(2000);
    const counted = await countRows(await openLeaving(run, ID, SHARDS), SHARDS);
    for (const [table, { count }] of Object.entries(digestsOf(first, ID)))
      expect([table, counted.get(table)]).toEqual([table, count]);
    const total = () =>
      Number(first.prepare("select total from list_totals where list = 'organizations'").get()?.total);
    const before = total();

    const { prefixes, kept } = await leave(run);

    expect(prefixes).toEqual([`clinic${ID}/`]);
    expectGone(databases);
    expect(digestsOf(first, NEIGHBOUR)).toEqual(theirs);
    expect(databases.map(triggersOf)).toEqual(triggers);
    expect(total()).toBe(before - 1);
    expect(kept.filter(({ jws }) => jws).map(({ id }) => ({ id }))).toEqual(seals);
    expect(kept.filter(({ jws }) => !jws).map(({ id }) => ({ id }))).toEqual(entries);
  });

  it("refuses an organization that is not suspended, has a legal hold, or does not exist, and changes nothing", async () => {
    const { databases, run } = oneLeaves();
    const [first] = databases;
    await expect(openLeaving(run, 77, SHARDS)).rejects.toThrow("There is no organization 77");
    first.exec(`update organizations set is_suspended = 0 where id = ${ID}`);
    await expectRefused(databases, () => leave(run), "is not suspended");
    first.exec(`update organizations set is_suspended = 1 where id = ${ID}`);
    const leaving = await openLeaving(run, ID, SHARDS);
    first.exec(BEGIN_HOLD);
    await expectRefused(databases, () => leave(run), "under legal hold");
    // The hold began after the operator was asked.
    await expectRefused(databases, () => deleteOrganization(leaving, NOTHING), "under legal hold");
  });

  it("deletes nothing if the rest of the access log cannot be kept", async () => {
    const { databases, run } = oneLeaves();
    const leaving = await openLeaving(run, ID, SHARDS);
    const keep = () => Promise.reject(new Error("no space left"));
    await expectRefused(databases, () => deleteOrganization(leaving, { ...NOTHING, keep }), "no space left");
  });

  it("is undone after a run that was killed before it deleted anything, and never after that", async () => {
    for (let batches = 0, isBegun = false; !isBegun; batches++) {
      const { databases, run } = oneLeaves();
      const before = stateOf(databases);
      await expect(leave(dyingAfter(batches, run))).rejects.toThrow("killed");
      const leaving = await openLeaving(run, ID, SHARDS);
      ({ isBegun } = leaving);
      if (isBegun) await expect(unfreeze(leaving)).rejects.toThrow("run this again");
      else {
        await unfreeze(leaving);
        expect(stateOf(databases)).toEqual(before);
      }
    }
  });

  it("treats rows that a restore brought back like those of an organization that is not deleted", async () => {
    const { databases, run } = oneLeaves();
    const [, second] = databases;
    await moveOrganization(run, { id: ID, to: 1 }, SHARDS);
    await leave(run);
    second.exec(`insert into organizations (id, name, slug, created_at, updated_at) values (${ID}, 'Back', 'clinic${ID}', 1, 1);
      insert into access_logs (organization_id, at, event, resource, user_id) values (${ID}, 1, 'read', 'transcript', 1)`);
    await expect(leave(run)).rejects.toThrow("is not suspended");
    expect(tablesWithRows(databases)).toContain("access_logs");
    second.exec(`update organizations set is_suspended = 1 where id = ${ID}`);
    const { kept } = await leave(run);
    expect(kept).toMatchObject([{ event: "read", resource: "transcript" }]);
    expectGone(databases);
  });

  it("refuses an organization whose move was interrupted after its switch, and changes nothing", async () => {
    const { databases, run } = oneLeaves();
    const isSwitched = () => databases[0].prepare("select 1 from moves where shard = 1").get();
    const dying: Run = async (...batch) => {
      if (isSwitched()) throw new Error("killed");
      return run(...batch);
    };
    await expect(moveOrganization(dying, { id: ID, to: 1 }, SHARDS)).rejects.toThrow("killed");
    databases[0].exec(`update places set shard = 0 where id = ${ID}`);
    await expectRefused(databases, () => leave(run), "first complete that, with --to 1");
    expect(isSwitched()).toBeDefined();
  });

  it("is refused while a database is quiet, and works if the database of a deleted organization is gone", async () => {
    const { databases, run } = oneLeaves();
    databases[2].exec("insert into database_settings values ('quiet', 1)");
    await expect(leave(run)).rejects.toThrow("is quiet");
    databases[2].exec("delete from database_settings where name = 'quiet'");
    await moveOrganization(run, { id: ID, to: 2 }, SHARDS);
    await leave(run);
    expect(await leave(run, [0, 1])).toEqual({ prefixes: [`clinic${ID}/`], kept: [] });
  });
});
