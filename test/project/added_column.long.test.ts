import { spawnSync } from "node:child_process";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { aCopyOf } from "./support/copied_project.ts";

/** Inserts a text into a file of `src`, after another text. */
type Edit = [file: string, after: string, inserted: string];

/**
 * Adds a column to the invites, which have every kind of place. All tables get their rows, stored answers and responses through the same
 * types.
 */
const COLUMN: Edit[] = [
  ["joining/invites/invites.table.ts", "display_name: text().notNull(),", "note: text(),"],
  ["joining/invites/invites.schemas.ts", "display_name: name(),", "note: name().nullable().optional(),"],
  [
    "joining/invites/invites.responses.ts",
    'named("Invite", "An invitation to join the organization.", {',
    "note: name().nullable(),",
  ],
  ["joining/bulk_invites/bulk_invites.table.ts", "display_name: text().notNull(),", "note: text(),"],
];

/** The place with the type of stored answers. Without it, the compiler does not know what their other places lack. */
const STORED: Edit = ["joining/invites/invites.sql.ts", "idempotencyOf(inviteWrites, {", 'note: "repeated",'];

/** The places that make a row, a stored answer or a response. */
const PLACES: Edit[] = [
  ["joining/invites/invites.merge.ts", "return inviteRow(known, { email,", "note: input.note ?? null,"],
  ["joining/invites/invites.service.ts", "inviteIdempotency(context, { email,", "note: input.note ?? null,"],
  ["joining/invites/invites.schemas.ts", "display_name: row.display_name,", "note: row.note,"],
  ["joining/bulk_invites/bulk_invites.merge.ts", "    row,\n    email,", "note: inputs[row]?.note ?? null,"],
  ["joining/bulk_invites/bulk_invites.merge.ts", "inviteRow(inviter, {", "note: row.note,"],
];

/** The files with errors after these edits of a copy of `src`, once for each error. */
function faultyAfter(edits: Edit[]): string[] {
  const folder = aCopyOf("src", "tsconfig.json");
  symlinkSync(resolve("dist"), join(folder, "dist"), "junction");
  for (const [file, after, inserted] of edits) {
    const path = join(folder, "src", file);
    const text = readFileSync(path, "utf8");
    expect(text).toContain(after);
    writeFileSync(path, text.replace(after, `${after} ${inserted}`));
  }
  const tsc = [resolve("node_modules/typescript-7/bin/tsc"), "--pretty", "false"];
  const { stdout } = spawnSync(process.execPath, tsc, { cwd: folder, encoding: "utf8" });
  return [...stdout.matchAll(/^src\/(\S+)\(/gm)].map(([, file = ""]) => file).sort();
}

it("The compiler accepts a new column that every place knows", () => {
  expect(faultyAfter([...COLUMN, STORED, ...PLACES])).toEqual([]);
});

it("The compiler names every place that lacks a new column", () => {
  expect(faultyAfter([...COLUMN, STORED])).toEqual(PLACES.map(([file]) => file).sort());
  expect(faultyAfter([...COLUMN, ...PLACES])).toContain(STORED[0]);
});
