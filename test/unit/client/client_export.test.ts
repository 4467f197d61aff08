import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { IncompleteExportError } from "../../../dist/client/external/index.js";
import { aClient, ndjson } from "../../support/a_client.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

const FIRST =
  '{"type":"export","external_reference":"patient-4711","created_at":"2026-02-01T00:00:00.000Z","user_id":11}\n';
const VISIT = '{"type":"visit","visit":{"id":501}}\n';

const endOf = (lines: string, more: object = {}) =>
  `${JSON.stringify({ type: "end", calls: 0, visits: 1, access_logs: 0, sha256: sha256(lines), ...more })}\n`;

const LINES = FIRST + VISIT;

/** The lines that a client yields, and its error, if the service sends this text. */
async function received(text: string) {
  const { client, sent } = aClient([ndjson([text]).response]);
  const lines: object[] = [];
  try {
    for await (const line of client.exportParticipant({ external_reference: "patient-4711" }))
      lines.push(line);
    return { lines, sent };
  } catch (error) {
    return { lines, sent, error };
  }
}

describe("exportParticipant", () => {
  it("yields the lines of a complete export, from one request", async () => {
    const { lines, sent, error } = await received(LINES + endOf(LINES));
    expect(error).toBeUndefined();
    expect(lines).toMatchObject([{ type: "export" }, { visit: { id: 501 } }, { type: "end", visits: 1 }]);
    const path = "/api/external/participants/export?external_reference=patient-4711";
    expect(sent.map(({ url }) => url)).toEqual([`https://visits.test${path}`]);
  });

  it.each([
    ["nothing", ""],
    ["without its last line", LINES],
    ["cut off within a line", LINES + endOf(LINES).slice(0, 20)],
    ["without a line in the middle", FIRST + endOf(LINES)],
    ["with a changed line", LINES.replace("501", "502") + endOf(LINES)],
    ["with another count", LINES + endOf(LINES, { visits: 2 })],
    ["without its first line", VISIT + endOf(VISIT)],
    ["that continues", LINES + endOf(LINES) + VISIT],
  ])("throws for an export %s", async (_, text) => {
    expect((await received(text)).error).toBeInstanceOf(IncompleteExportError);
  });
});
