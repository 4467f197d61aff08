import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, it, onTestFinished } from "vitest";

/** Inserts a text into a file of `src`, after another text. */
type Edit = [file: string, after: string, inserted: string];

/** Add a column to five tables, and its fields to requests and responses. */
const COLUMNS: Edit[] = [
  ["joining/invites/invites.table.ts", "display_name: text().notNull(),", "note: text(),"],
  ["joining/invites/invites.schemas.ts", "display_name: name(),", "note: name().nullable().optional(),"],
  ["joining/invites/invites.responses.ts", "  .object({", "note: name().nullable(),"],
  ["joining/bulk_invites/bulk_invites.table.ts", "display_name: text().notNull(),", "note: text(),"],
  ["rooms/waiting_rooms/waiting_rooms.table.ts", "name: text().notNull(),", "note: text(),"],
  ["rooms/waiting_rooms/waiting_rooms.schemas.ts", "name: name(),", "note: name().nullable(),"],
  ["rooms/waiting_rooms/waiting_rooms.responses.ts", "  .object({", "note: name().nullable(),"],
  ["rooms/visits/visits.table.ts", "external_reference: text(),", "note: text(),"],
  ["rooms/visits/visits.schemas.ts", "ends_at: instant().optional(),", "note: name().nullable().optional(),"],
  ["rooms/visits/visits.responses.ts", "listedVisitSchema = z\n  .object({", "note: name().nullable(),"],
  ["results/egresses/egresses.table.ts", "status: text().notNull(),", "note: text(),"],
  ["results/egresses/egresses.schemas.ts", "error: egressError(),", "note: key().nullable(),"],
  ["results/egresses/egresses.responses.ts", "  .object({", "note: key().nullable(),"],
  ["delivery/webhook_endpoints/webhook_endpoints.table.ts", "url: text().notNull(),", "note: text(),"],
  [
    "delivery/webhook_endpoints/webhook_endpoints.schemas.ts",
    "url: webhookUrl(),",
    "note: webhookUrl().nullable(),",
  ],
  [
    "delivery/webhook_endpoints/webhook_endpoints.responses.ts",
    "  .object({",
    "note: webhookUrl().nullable(),",
  ],
];

/** The places of each table that make a row, a stored answer or a response. */
const PLACES: Edit[][] = [
  [
    ["joining/invites/invites.merge.ts", "return inviteRow(known, { email,", "note: input.note ?? null,"],
    ["joining/invites/invites.sql.ts", "idempotencyOf(inviteWrites, {", 'note: "repeated",'],
    [
      "joining/invites/invites.service.ts",
      "inviteIdempotency(context, { email,",
      "note: input.note ?? null,",
    ],
    ["joining/invites/invites.schemas.ts", "display_name: row.display_name,", "note: row.note,"],
    [
      "joining/bulk_invites/bulk_invites.merge.ts",
      "    row,\n    email,",
      "note: inputs[row]?.note ?? null,",
    ],
    ["joining/bulk_invites/bulk_invites.merge.ts", "inviteRow(inviter, {", "note: row.note,"],
  ],
  [
    ["rooms/waiting_rooms/waiting_rooms.merge.ts", "    user_id: null,", "note: null,"],
    ["rooms/waiting_rooms/waiting_rooms.merge.ts", "  user_id: id,", "note: null,"],
    ["rooms/waiting_rooms/waiting_rooms.sql.ts", "idempotencyOf(waitingRoomWrites, {", 'note: "stored",'],
    ["rooms/waiting_rooms/waiting_rooms.schemas.ts", "name: row.name,", "note: row.note,"],
  ],
  [
    [
      "rooms/visits/visits.merge.ts",
      "waiting_room_id: where.id,",
      "note: input.note ?? before?.note ?? null,",
    ],
    ["rooms/visits/visits.sql.ts", "idempotencyOf(visitWrites, {", 'note: "repeated",'],
    ["rooms/visits/visits.service.ts", "visitIdempotency(context, {", "note: input.note ?? null,"],
    ["rooms/visits/visits.schemas.ts", "status: row.status,", "note: row.note,"],
  ],
  [
    ["results/egresses/egresses.merge.ts", "const UNKNOWN = {", "note: null,"],
    ["results/egresses/egresses.schemas.ts", "status: row.status,", "note: row.note,"],
  ],
  [
    ["delivery/webhook_endpoints/webhook_endpoints.merge.ts", "is_active: true,", "note: null,"],
    ["delivery/webhook_endpoints/webhook_endpoints.schemas.ts", "url: row.url,", "note: row.note,"],
  ],
];

/** The compiler's errors after these edits of a copy of `src`. */
function errorsAfter(edits: Edit[]): string {
  const folder = mkdtempSync(join(tmpdir(), "added-column-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  cpSync("src", join(folder, "src"), { recursive: true });
  cpSync("tsconfig.json", join(folder, "tsconfig.json"));
  for (const path of ["node_modules", "dist"]) symlinkSync(resolve(path), join(folder, path), "junction");
  for (const [file, after, inserted] of edits) {
    const path = join(folder, "src", file);
    const text = readFileSync(path, "utf8");
    expect(text).toContain(after);
    writeFileSync(path, text.replace(after, `${after} ${inserted}`));
  }
  const tsc = [resolve("node_modules/typescript-7/bin/tsc"), "--pretty", "false"];
  return spawnSync(process.execPath, tsc, { cwd: folder, encoding: "utf8" }).stdout;
}

it("The compiler accepts a new column that every place knows", () => {
  expect(errorsAfter([...COLUMNS, ...PLACES.flat()])).toBe("");
});

it.each([0, 1, 2, 3, 4, 5])("The compiler names place %i of each table if it lacks a new column", (n) => {
  const errors = errorsAfter([...COLUMNS, ...PLACES.flatMap((places) => places.filter((_, at) => at !== n))]);
  for (const places of PLACES) if (places[n]) expect(errors).toContain(`src/${places[n][0]}(`);
});
