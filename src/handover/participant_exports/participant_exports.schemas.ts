import * as z from "zod";
import { hexOf } from "../../bytes/hex.ts";
import { externalReference } from "../../http/wire.ts";
import { lazily } from "../../memory.ts";
import { type ListedVisit, toVisit, type VisitParticipant } from "../../rooms/visits/visits.schemas.ts";

export const exportQuery = lazily(() => z.object({ external_reference: externalReference() }));

/** A planned visit as lists show it, but with only the roles of other people. */
export function toExportedVisit({ numbers, ...row }: ListedVisit & { numbers: number[] }) {
  const toExported = (participant: VisitParticipant) =>
    numbers.includes(participant.id) ? participant : { id: participant.id, role: participant.role };
  return toVisit({ ...row, participants: row.participants.map(toExported) });
}

/** The types of lines that the last line counts, with the name of their count. */
const COUNTS = { call: "calls", visit: "visits", access_log: "access_logs" } as const;

type Counted = keyof typeof COUNTS;

interface Line {
  type: "export" | Counted;
}

/** The lines as text. Adds the last line, by which a reader knows that no line is missing. */
export async function* toExportText(
  lines: AsyncIterable<Line>,
): AsyncGenerator<{ type: Line["type"] | "end"; text: string }> {
  const digest = new crypto.DigestStream("SHA-256");
  const writer = digest.getWriter();
  const counts = { calls: 0, visits: 0, access_logs: 0 };
  for await (const line of lines) {
    const text = `${JSON.stringify(line)}\n`;
    await writer.write(new TextEncoder().encode(text));
    if (line.type !== "export") counts[COUNTS[line.type]]++;
    yield { type: line.type, text };
  }
  await writer.close();
  const sha256 = hexOf(new Uint8Array(await digest.digest));
  yield { type: "end", text: `${JSON.stringify({ type: "end", ...counts, sha256 })}\n` };
}
