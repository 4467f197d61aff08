import type { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { migratedDatabase, readText, sourceFiles } from "../../src/dev/migrations.ts";
import {
  changedNames,
  createFromFiles,
  definitionsIn,
  fillInNumbers,
  rebuildFiles,
  subjectOf,
  TRIGGERS,
} from "../../src/dev/triggers.ts";
import { WRITES_PAGE, writesPage } from "../../src/dev/writes_page.ts";
import { SILENCE_UNTIL_END } from "../../src/lifetimes.ts";
import { MAX_WAITING_ROOMS } from "../../src/limits.ts";
import { writeVariedRows } from "./support/varied_rows.ts";

const RUN = "run `npm run db:baseline`, or once deployed `npm run db:generate -- --name what_changed`";

describe("The triggers and views of the migrated database", () => {
  it("match their files", () => {
    const database = migratedDatabase();
    const present = definitionsIn(database);
    const changed = changedNames(present, createFromFiles(database));
    expect(
      [...changed],
      `A file was changed without a migration, or a migration lost a trigger: ${RUN}.`,
    ).toEqual([]);
  });

  it("are described by the page of writes", () => {
    const database = migratedDatabase();
    const page = writesPage(database, createFromFiles(database));
    expect(readText(WRITES_PAGE), `${WRITES_PAGE} is out of date: ${RUN}.`).toBe(page);
  });
});

describe("A number of limits.ts or lifetimes.ts", () => {
  it.each(sourceFiles(TRIGGERS))("appears in %s only by name", (file) => {
    const sql = readText(file).replace(/--.*|'[^']*'|`[^`]*`|\{\{.*?\}\}/g, "");
    const numbers = sql.match(/(?<![\w.])\d+(\.\d+)?/g) ?? [];
    // 1000 converts milliseconds to seconds.
    expect(numbers.filter((each) => !["0", "1", "1000", "1000.0"].includes(each))).toEqual([]);
  });

  it("is filled in by its name, and an unknown name is refused", () => {
    const filled = `total > ${MAX_WAITING_ROOMS} AND time > ${SILENCE_UNTIL_END}`;
    expect(fillInNumbers("total > {{MAX_WAITING_ROOMS}} AND time > {{SILENCE_UNTIL_END}}", "a.sql")).toBe(
      filled,
    );
    expect(() => fillInNumbers("total > {{MAX_ROOMS}}", "a.sql")).toThrow(
      "a.sql: {{MAX_ROOMS}} is not a number",
    );
  });
});

describe.each([...rebuildFiles()])("The data that the triggers of %s maintain", (subject, rebuild) => {
  /** The triggers on tables. The other triggers are procedures that these call. */
  const triggers = createFromFiles(migratedDatabase())
    .filter((each, _, all) => subjectOf(each) === subject && !all.some(({ name }) => name === each.on))
    .map(({ name }) => name);

  it("does not change when it is rebuilt", () => {
    const { maintained, rebuilt } = maintainAndRebuild(migratedDatabase(), subject, rebuild);
    expect(maintained.length).toBeGreaterThan(8);
    expect(rebuilt).toEqual(maintained);
  });

  it.each(triggers)("is wrong without %s", (trigger) => {
    const database = migratedDatabase();
    database.exec(`drop trigger ${trigger}`);
    const { maintained, rebuilt } = maintainAndRebuild(database, subject, rebuild);
    expect(rebuilt, "The rows of varied_rows.ts do not need this trigger.").not.toEqual(maintained);
  });
});

/** Without quarter hours whose counts have dropped to zero. */
const countedQuarters = (quarters: unknown) =>
  Object.fromEntries(
    Object.entries<number[]>(JSON.parse(String(quarters))).filter(([, counts]) => counts.some(Boolean)),
  );

function maintainAndRebuild(database: DatabaseSync, subject: string, rebuild: string) {
  // A count that drops to zero stays as a row of zeros, which a rebuild does not create.
  const rows = () =>
    database
      .prepare(`select * from ${subject} order by 1, 2, 3`)
      .all()
      .filter(({ total, total_calls }) => total !== 0 && total_calls !== 0)
      .filter(({ planned, held, missed, cancelled }) => planned !== 0 || held || missed || cancelled)
      .map((row) => ({ ...row, ...("quarters" in row && { quarters: countedQuarters(row.quarters) }) }));
  writeVariedRows(database);
  const maintained = rows();
  database.exec(readText(rebuild));
  return { maintained, rebuilt: rows() };
}
