import { spawn } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { createClient } from "../../dist/client/external/index.js";
import { printsOf } from "../support/prints.ts";
import { withDatabases } from "./support/local_databases.ts";
import { anOrganization } from "./support/organization.ts";
import { reportCall } from "./support/recordings.ts";
import { type Server, startServer } from "./support/server.ts";

/** In MB. An idle isolate takes 6. */
const HEAP = 6 + 40;

const CALLS = 500;

/** A line every four seconds of an hour. */
const HOUR_OF_LINES = 900;

const REFERENCE = "patient-4711";

let server: Server;
let clinic: Awaited<ReturnType<typeof anOrganization>>;
let owner: { id: number };

const KEY = "old.key || '-' || n";
const OF_COPY = "join calls as copy on copy.key = 'first-' || n where old.call_id = ?";

const COPIED: { table: string; values: Record<string, string>; of: string }[] = [
  { table: "calls", values: { key: KEY }, of: "where old.id = ?" },
  { table: "participants", values: { key: KEY, call_id: "copy.id" }, of: `${OF_COPY} and old.key <> 'uma'` },
  { table: "call_texts", values: { call_id: "copy.id" }, of: OF_COPY },
];

/** Reports a call with three patients, and copies it with its texts, but without Uma. */
async function aPatientWithManyCalls() {
  const provider = await clinic.addUser("pascal", "provider");
  const participants = [
    { key: "rita", display_name: "Rita Recipient", role: "recipient", external_reference: REFERENCE },
    { key: "uma", display_name: "Uma Once", role: "recipient", external_reference: "uma-1" },
    { key: "otto", display_name: "Otto Other", role: "recipient", external_reference: "otto-1" },
  ];
  const { body, path } = await reportCall(clinic, provider, "first", participants);
  const lines = Array.from({ length: HOUR_OF_LINES }, (_, n) => ({
    participant_key: n % 2 ? "rita" : "otto",
    text: `${n}: ${"how have you been since the last time? ".repeat(3)}`,
    start_time: 4 * n,
    end_time: 4 * n + 3.5,
  }));
  const reported = await clinic.platform("PUT", `${path}/transcript`, {
    transcript: { is_final: true, lines },
  });
  expect(reported.status).toBe(200);
  withDatabases(join(server.persistTo, "export"), (databases) => {
    const database = databases.get(0);
    for (const { table, values, of } of COPIED) {
      const columns =
        database?.prepare("select name from pragma_table_info(?) where name <> 'id'").all(table) ?? [];
      const names = columns.map(({ name }) => String(name));
      database
        ?.prepare(
          `with recursive numbers (n) as (select 1 union all select n + 1 from numbers limit ?)
           insert into ${table} (${names})
           select ${names.map((name) => values[name] ?? `old.${name}`)} from ${table} as old cross join numbers ${of}`,
        )
        .run(CALLS - 1, body.id);
    }
  });
  return provider;
}

beforeAll(async () => {
  server = await startServer({ heapLimit: HEAP, ownData: "export" });
  clinic = await anOrganization(server.url, { role: "organization_admin" });
  owner = await aPatientWithManyCalls();
});

describe(`With a heap of ${HEAP} MB,`, () => {
  it(`a person is exported with ${CALLS} calls of an hour each, as JSON shows them`, async () => {
    const { "X-Client-ID": clientId, "X-Client-Secret": clientSecret } = clinic.credentials;
    const client = createClient({ baseUrl: server.url, clientId, clientSecret });
    const { access_logs } = await client.listAccessLogs({ external_reference: REFERENCE, per_page: 100 });
    const texts = new Map<number, unknown>();
    const entries: object[] = [];
    let length = 0;
    for await (const line of client.exportParticipant({ external_reference: REFERENCE })) {
      if (line.type === "access_log") entries.push(line.access_log);
      if (line.type !== "call") continue;
      const payload = Buffer.from(line.jws?.payload ?? "", "base64url").toString();
      expect(payload).not.toMatch(/Otto|otto|Uma|uma/);
      length += payload.length;
      const { dialog, analysis } = JSON.parse(payload);
      texts.set(dialog[0].call_id, analysis[0].body.transcript_lines);
    }
    expect(texts.size).toBe(CALLS);
    expect(length).toBeGreaterThan(HEAP * 1024 * 1024);
    expect(entries).toEqual(access_logs);
    for (const call_id of [...texts.keys()].filter((_, n) => n % 50 === 0)) {
      const { transcript_lines } = await client.getTranscript({ organization_user_id: owner.id, call_id });
      const shown = transcript_lines.map(({ id: _, display_name: __, ...line }) => line);
      expect(texts.get(call_id)).toMatchObject(shown);
    }
  });

  it("the command writes the same into a private file, and never over another one", async () => {
    const { "X-Client-ID": CLIENT_ID, "X-Client-Secret": CLIENT_SECRET } = clinic.credentials;
    const env = { ...process.env, CLIENT_ID, CLIENT_SECRET };
    const output = join(server.persistTo, "rita.ndjson");
    const run = () => {
      const args = ["export-participant", "--url", server.url, "--reference", "uma-1", "--output", output];
      return printsOf(spawn(process.execPath, ["dist/client/external/cli.js", ...args], { env })).ended;
    };
    const exported = await run();
    expect(exported.output).toMatch(/The export is complete: 1 call, 0 visits, \d+ entr/);
    expect(exported.code).toBe(0);
    const file = readFileSync(output, "utf8");
    expect(file).toMatch(/^\{"type":"export".*\n/);
    const [, call = ""] = file.split("\n");
    const { parties } = JSON.parse(Buffer.from(JSON.parse(call).jws.payload, "base64url").toString());
    expect(parties).toMatchObject([{}, { name: "Uma Once" }, {}]);
    if (process.platform !== "win32") expect(statSync(output).mode & 0o777).toBe(0o600);
    writeFileSync(output, "Another file.");
    expect((await run()).code).toBe(3);
    expect(readFileSync(output, "utf8")).toBe("Another file.");
  });
});
