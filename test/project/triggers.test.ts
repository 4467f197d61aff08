import type { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { migratedDatabase, readText } from "../../src/dev/migrations.ts";
import {
  changedNames,
  createFromFiles,
  definitionsIn,
  rebuildableSubjects,
  TRIGGERS,
} from "../../src/dev/triggers.ts";
import { LIVEKIT_ROOM_TOLERANCE, SILENCE_UNTIL_END } from "../../src/lifetimes.ts";
import {
  CLIENT_SHARE,
  MAX_ADDRESS_MAILS,
  MAX_DAILY_ACCESS_LOGS,
  MAX_DAILY_WRITES,
  MAX_ORGANIZATION_MAILS,
  MAX_WAITING_ROOMS,
} from "../../src/limits.ts";
import { writeVariedRows } from "./support/varied_rows.ts";

const RUN = "run `npm run db:baseline`, or once deployed `npm run db:generate -- --name what_changed`";

describe("The triggers and views of the migrated database", () => {
  it("are those of their files", () => {
    const database = migratedDatabase();
    const present = definitionsIn(database);
    const changed = changedNames(present, createFromFiles(database));
    expect(
      [...changed],
      `A file was changed without a migration, or a migration lost a trigger: ${RUN}.`,
    ).toEqual([]);
  });
});

it("A waiting egress goes to a call by the room's name with the same tolerance in SQL as in TypeScript", () => {
  const sql = readText(`${TRIGGERS}/livekit_egresses.sql`);
  expect(sql).toContain(`min(started_at + ${LIVEKIT_ROOM_TOLERANCE},`);
  expect(sql).toContain(`new.started_at + ${SILENCE_UNTIL_END})`);
});

it("What an organization can store is bounded by the same numbers in SQL as in the documents", () => {
  expect(readText(`${TRIGGERS}/mails.sql`)).toContain(`new.mails > ${MAX_ORGANIZATION_MAILS}\n`);
  expect(readText(`${TRIGGERS}/mails.sql`)).toContain(`new.count > ${MAX_ADDRESS_MAILS}\n`);
  const usage = readText(`${TRIGGERS}/usage.sql`);
  for (const most of [MAX_DAILY_WRITES, MAX_DAILY_ACCESS_LOGS])
    expect(usage).toContain(`iif(new.api_client_id = 0, ${most}, ${most * CLIENT_SHARE})\n`);
  expect(readText(`${TRIGGERS}/list_totals.sql`)).toContain(`total > ${MAX_WAITING_ROOMS};`);
});

describe.each(rebuildableSubjects())("The data that the triggers of %s maintain", (subject) => {
  /** The triggers on tables: the others are the procedures that these call. */
  const triggers = createFromFiles(migratedDatabase())
    .filter((each, _, all) => each.subject === subject && !all.some(({ name }) => name === each.on))
    .map(({ name }) => name);

  it("does not change when it is rebuilt", () => {
    const { maintained, rebuilt } = maintainAndRebuild(migratedDatabase(), subject);
    expect(maintained.length).toBeGreaterThan(8);
    expect(rebuilt).toEqual(maintained);
  });

  it.each(triggers)("is wrong without %s", (trigger) => {
    const database = migratedDatabase();
    database.exec(`drop trigger ${trigger}`);
    const { maintained, rebuilt } = maintainAndRebuild(database, subject);
    expect(rebuilt, "The rows of varied_rows.ts do not need this trigger.").not.toEqual(maintained);
  });
});

function maintainAndRebuild(database: DatabaseSync, subject: string) {
  // What has dropped to zero stays as a row of zeros, and is not made again.
  const rows = () =>
    database
      .prepare(`select * from ${subject} order by 1, 2, 3`)
      .all()
      .filter(({ total, total_calls }) => total !== 0 && total_calls !== 0)
      .filter(({ planned, held, missed, cancelled }) => planned !== 0 || held || missed || cancelled)
      .map((row) => ({ ...row }));
  writeVariedRows(database);
  const maintained = rows();
  database.exec(readText(`${TRIGGERS}/${subject}.rebuild.sql`));
  return { maintained, rebuilt: rows() };
}
