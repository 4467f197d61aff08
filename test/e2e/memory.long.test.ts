import { request } from "node:http";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import {
  CORRECTION_BODY_LIMIT,
  EXTERNAL_BODY_LIMIT,
  MAX_ACTING_USER_LENGTH,
  MAX_EXPORTED_ACCESS_LOGS,
  MAX_TRANSCRIPT_LINES,
  PLATFORM_BODY_LIMIT,
} from "../../src/limits.ts";
import {
  aCallToTranscribe,
  aLargestTranscript,
  LARGEST_TRANSCRIPTS,
  linesOf,
  type Shape,
} from "../support/largest_texts.ts";
import { freePort, inspect } from "./support/inspector.ts";
import { withDatabases } from "./support/local_databases.ts";
import { anOrganization } from "./support/organization.ts";
import { type Server, startServer } from "./support/server.ts";

/** In MB. An idle isolate takes 6, and Cloudflare allows 128. */
const HEAP_FOR_ONE = 36;
const HEAP_FOR_MANY = 70;

describe.each([
  { heapLimit: HEAP_FOR_ONE, callers: [1] },
  { heapLimit: HEAP_FOR_MANY, callers: [10, 20] },
])("With a heap of $heapLimit MB,", ({ heapLimit, callers }) => {
  let server: Server;

  beforeAll(async () => {
    server = await startServer({ heapLimit, ownData: String(heapLimit) });
  });

  /** An organization of its own, so that no test uses up the limits of another one. */
  async function aClinic() {
    const clinic = await anOrganization(server.url, { role: "organization_admin" });
    return { clinic, provider: await clinic.addUser("pascal", "provider") };
  }

  type Clinic = Awaited<ReturnType<typeof anOrganization>>;

  async function readAtOnce(clinic: Clinic, count: number, path: string, headers: object = {}) {
    const { credentials } = await clinic.addClient();
    const read = () =>
      fetch(`${server.url}/api/external${path}`, { headers: { ...credentials, ...headers } });
    // Starts all requests before it reads a response: a slow caller keeps the data of its response in memory.
    const responses = await Promise.all(Array.from({ length: count }, read));
    for (const { status } of responses) expect(status).toBe(200);
    const sizes = await Promise.all(responses.map(async (each) => (await each.arrayBuffer()).byteLength));
    expect(new Set(sizes).size).toBe(1);
  }

  describe.each(Object.keys(LARGEST_TRANSCRIPTS) as Shape[])("the longest transcript of %s", (shape) => {
    let clinic: Clinic;
    let path: string;

    beforeAll(async () => {
      const made = await aClinic();
      clinic = made.clinic;
      path = await aLargestTranscript(clinic, made.provider, shape);
    });

    it.each(callers)("is read by %i callers at once, also as WebVTT and with its versions", async (count) => {
      await readAtOnce(clinic, count, path);
      await readAtOnce(clinic, count, path, { Accept: "text/vtt" });
      await readAtOnce(clinic, 1, `${path}/versions`);
    });
  });

  if (heapLimit === HEAP_FOR_ONE) return;

  it("29 callers read the access log as NDJSON at once", async () => {
    const { clinic } = await aClinic();
    withDatabases(join(server.persistTo, String(heapLimit)), (databases) => {
      databases
        .get(0)
        ?.prepare(
          `insert into access_logs (organization_id, at, event, resource, resource_id, call_id, organization_user_id, user_id,
            api_client_id, acting_user, purpose, request_id)
          select ?1, 1790000000000, 'update', 'organization_user', id, id, id, id, id, ?2, 'HOPERAT', randomblob(16)
          from (with recursive numbers (id) as (select 9007199250000000 union all select id + 1 from numbers limit ?3)
            select id from numbers)`,
        )
        .run(clinic.organization.id, "x".repeat(MAX_ACTING_USER_LENGTH), MAX_EXPORTED_ACCESS_LOGS + 1);
    });
    await readAtOnce(clinic, 29, "/access_logs", { Accept: "application/x-ndjson" });
  });

  it.each([
    ["many lines", MAX_TRANSCRIPT_LINES],
    ["long lines", 105],
  ] as const)("the service accepts ten reports of 1 MiB, with %s, at once", async (_, size) => {
    const { clinic, provider } = await aClinic();
    const ten = await Promise.all(Array.from({ length: 10 }, () => aCallToTranscribe(clinic, provider)));
    const lines = linesOf(size, Math.floor(PLATFORM_BODY_LIMIT / size) - 3);
    expect(JSON.stringify(lines).length).toBeGreaterThan(0.9 * PLATFORM_BODY_LIMIT);
    // Wrangler's proxy may close the connection of a report that the service refuses before it has read it, or answer 500.
    const closed = { status: 500 };
    const answers = await Promise.all(ten.map(({ report }) => report(lines).catch(() => closed)));
    // More than eight at once would take more than one address's share of the memory.
    const refused = ten.filter((_, n) => [500, 503].includes(answers[n]?.status ?? 0));
    expect(refused.length).toBeLessThanOrEqual(2);
    const repeated = await Promise.all(refused.map(({ report }) => report(lines)));
    const accepted = [...answers, ...repeated].filter(({ status }) => status === 200);
    expect(accepted.length).toBe(10);
  });
});

describe("Unfinished bodies", () => {
  const correction = {
    method: "PUT",
    path: "/organization_users/1/calls/1/transcript",
    size: CORRECTION_BODY_LIMIT,
  };
  const room = { method: "POST", path: "/waiting_rooms", size: EXTERNAL_BODY_LIMIT };
  const bodies = { correction, room, small: { ...room, size: 2 } };
  let server: Server;
  let inspectorPort: number;

  beforeAll(async () => {
    inspectorPort = await freePort();
    server = await startServer({ inspectorPort, ownData: "unfinished" });
  });

  /** Sends a body without its last byte. Returns the status, or 0 if the connection broke. */
  const sendUnfinished = (credentials: Record<string, string>, { method, path, size }: typeof room) =>
    new Promise<number>((resolve) => {
      const options = { method, headers: { ...credentials, "Content-Length": size }, agent: false };
      const sent = request(`${server.url}/api/external${path}`, options, (response) => {
        response.resume();
        // An error without a code is the local proxy's: a connection broke behind it.
        resolve(response.headers["error-code"] ? (response.statusCode ?? 0) : 0);
        sent.destroy();
      });
      sent.on("error", () => resolve(0));
      sent.write(Buffer.alloc(size - 1, " "));
    });

  it.each([
    { organizations: 1, clients: 1, counts: { correction: 120 } },
    { organizations: 1, clients: 5, counts: { correction: 2, room: 40, small: 60 } },
    { organizations: 10, clients: 1, counts: { correction: 8, room: 20, small: 60 } },
  ])("$organizations organizations with $clients clients each leave $counts unfinished", async (attack) => {
    const clinics = await Promise.all(
      Array.from({ length: attack.organizations }, () => anOrganization(server.url)),
    );
    const clients = await Promise.all(
      clinics.flatMap(({ addClient }) => Array.from({ length: attack.clients }, () => addClient())),
    );
    const other = await anOrganization(server.url);
    const isolate = await inspect(inspectorPort);
    const { withBuffers } = await isolate.peakDuring(async () => {
      const attacks = clients.flatMap(({ credentials }) =>
        Object.entries(attack.counts).flatMap(([name, count]) => {
          const body = bodies[name as keyof typeof bodies];
          return Array.from({ length: count }, () => sendUnfinished(credentials, body));
        }),
      );
      let isOver = false;
      const statuses = Promise.all(attacks).finally(() => {
        isOver = true;
      });
      while (!isOver) {
        const waiting_room = { name: "Cardiology" };
        expect((await other.external("POST", "/waiting_rooms", { waiting_room })).status).toBe(201);
        await setTimeout(100);
      }
      // 0: the local proxy breaks some of so many connections.
      expect([0, 408, 503]).toEqual(expect.arrayContaining([...new Set(await statuses)]));
    });
    isolate.close();
    expect(withBuffers).toBeLessThan(HEAP_FOR_MANY);
  });
});
