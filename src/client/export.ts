/** Reads the export of a person, and checks that no line is missing. */
import { OPERATIONS } from "../../dist/client/external/operations.gen.js";
import type * as types from "../../dist/client/external/types.gen.js";
import type { Lines } from "./lists.ts";
import { parsed } from "./ndjson.ts";
import type { RequestOptions } from "./request.ts";
import { type Connection, carriedOut } from "./send.ts";

export type PersonToExport = types.ExportParticipationsData["query"];

/** A planned visit. Other participants have only their id and role. */
export type ExportedVisit = Omit<types.ListedVisit, "participants"> & {
  participants: (Pick<types.PlannedParticipant, "id" | "role"> & Partial<types.PlannedParticipant>)[];
};

/** A line of an export: the first is of the type `export`, and the last of the type `end`. */
export type ExportLine =
  | { type: "export"; external_reference: string; created_at: string; user_id: number }
  | { type: "call"; jws: types.SignedVcon; vcon?: undefined }
  | { type: "call"; vcon: types.Vcon; jws?: undefined }
  | { type: "visit"; visit: ExportedVisit }
  | { type: "access_log"; access_log: types.AccessLog }
  | { type: "end"; calls: number; visits: number; access_logs: number; sha256: string };

/** An export that was cut off or changed on its way. Ask for it again. */
export class IncompleteExportError extends Error {
  override readonly name: string = "IncompleteExportError";

  constructor(fault: string) {
    super(`The export is not complete: ${fault}`);
  }
}

/** @throws IncompleteExportError */
export async function* exportedLines(
  connection: Connection,
  person: PersonToExport,
  options: RequestOptions = {},
): AsyncGenerator<{ text: string; line: ExportLine }, void, undefined> {
  const route = { ...OPERATIONS.exportParticipations, operation: "exportParticipations" } as const;
  const response = (await carriedOut(connection, route, person, options)) as Lines;
  // Only here, because the package also runs where there is no node:crypto.
  const { createHash } = await import("node:crypto");
  const digest = createHash("sha256");
  const counts = { export: 0, call: 0, visit: 0, access_log: 0 };
  let isOver = false;
  for await (const text of response.lines()) {
    if (isOver) throw new IncompleteExportError("it continues after its last line");
    const line = lineOf(text);
    if (line.type !== "end") {
      counts[line.type]++;
      digest.update(`${text}\n`);
    } else {
      isOver = true;
      const said = [1, line.calls, line.visits, line.access_logs, line.sha256];
      if (String(said) !== String([...Object.values(counts), digest.digest("hex")]))
        throw new IncompleteExportError("its last line describes other lines");
    }
    yield { text, line };
  }
  if (!isOver) throw new IncompleteExportError("it has no last line");
}

function lineOf(text: string): ExportLine {
  try {
    return parsed(text) as ExportLine;
  } catch {
    throw new IncompleteExportError("a line is not JSON");
  }
}
