import * as z from "zod";
import { hexOf } from "../../bytes/hex.ts";
import { ApiError } from "../../http/errors.ts";
import { externalReference } from "../../http/wire.ts";
import { EXPORT_LEASE } from "../../lifetimes.ts";
import { type ListedVisit, toVisit, type VisitParticipant } from "../../rooms/visits/visits.schemas.ts";
import { SECOND } from "../../units.ts";

const RETRY_AFTER = EXPORT_LEASE / SECOND;

export const exportRunning = () =>
  new ApiError(
    429,
    "export_running",
    `Another export of the organization is running: try again once it has ended, or in ${RETRY_AFTER} seconds if it was broken off`,
    { headers: { "Retry-After": String(RETRY_AFTER) } },
  );

export const exportQuery = () => z.object({ external_reference: externalReference() });

/** A planned visit as lists show it, but with only the roles of other people. */
export function toExportedVisit({ numbers, ...row }: ListedVisit & { numbers: number[] }) {
  const toExported = (participant: VisitParticipant) =>
    numbers.includes(participant.id) ? participant : { id: participant.id, role: participant.role };
  return toVisit({ ...row, participants: row.participants.map(toExported) });
}

export interface Line {
  type: "export" | "call" | "visit" | "access_log";
  [content: string]: unknown;
}

/** The lines as text. Adds the last line, by which a reader knows that no line is missing. */
export async function* toExportText(lines: AsyncIterable<Line>, onCall: (text: string) => Promise<void>) {
  const digest = new crypto.DigestStream("SHA-256");
  const writer = digest.getWriter();
  const counts = { export: 0, call: 0, visit: 0, access_log: 0 };
  for await (const line of lines) {
    const text = `${JSON.stringify(line)}\n`;
    await writer.write(new TextEncoder().encode(text));
    counts[line.type]++;
    if (line.type === "call") await onCall(text);
    yield text;
  }
  await writer.close();
  const { call: calls, visit: visits, access_log: access_logs } = counts;
  const sha256 = hexOf(new Uint8Array(await digest.digest));
  yield `${JSON.stringify({ type: "end", calls, visits, access_logs, sha256 })}\n`;
}
