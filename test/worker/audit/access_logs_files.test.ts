import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { api } from "../support/api.ts";
import { storedRows } from "../support/database.ts";
import { expectRefusal } from "../support/expectations.ts";
import { anOrganization, given, type Organization } from "../support/organization.ts";
import {
  AUDIT_SIGNING_KEY,
  addEntries,
  anAuditBucket,
  fileOf,
  logOf,
  R2_FAULT,
  sealDay,
  sealsOf,
  withoutEntries,
} from "../support/seals.ts";
import { changingNothing } from "../support/unchanged.ts";
import { throughWorkerWith } from "../support/worker.ts";

const NOT_FOUND = "Sealed day of the access log not found";

/** The entries about reads of the access log itself. */
const readings = async (clinic: Organization) =>
  (await storedRows(clinic, "access_logs")).filter(({ resource }) => resource === "access_log");

async function aSealedClinic(): Promise<Organization> {
  const clinic = await withoutEntries(await anOrganization());
  const dates = ["2026-01-10", "2026-01-11", "2026-01-13"];
  await addEntries(clinic, ...dates.map((date) => `${date}T10:00:00Z`));
  for (const date of dates)
    while (!(await sealsOf(clinic)).some((seal: { date: string }) => seal.date === date)) await sealDay(date);
  return clinic;
}

let clinic: Organization;
beforeAll(async () => {
  clinic = await aSealedClinic();
});

it("GET /access_log_seals pages by the last entry id of each seal, and leaves no access log entry", async () => {
  const before = await readings(clinic);
  const all = await given(clinic.client.get("/access_log_seals"));
  expect(all.access_log_seals).toHaveLength(3);
  expect(all.next_after).toBe(all.access_log_seals[2].last_id);
  const [first, ...others] = all.access_log_seals;
  const page = await given(clinic.client.get("/access_log_seals?per_page=1"));
  expect(page).toEqual({ access_log_seals: [first], next_after: first.last_id });
  const rest = await given(clinic.client.get(`/access_log_seals?after=${page.next_after}`));
  expect(rest).toEqual({ access_log_seals: others, next_after: all.next_after });
  const none = await given(clinic.client.get(`/access_log_seals?after=${all.next_after}`));
  expect(none).toEqual({ access_log_seals: [], next_after: all.next_after });
  expectRefusal(
    await clinic.client.get("/access_log_seals?after=x"),
    400,
    "after: must be a non-negative integer",
  );
  expect(await readings(clinic)).toEqual(before);
});

describe("GET /access_logs/{date}", () => {
  it("returns the stored file, and records who read it", async () => {
    const reader = await clinic.addClient(clinic.admin.id);
    const before = await readings(clinic);
    const acting = { "X-Acting-User": "auditor-7", "X-Purpose-Of-Use": "HOPERAT" };
    const answer = await reader.send("GET", "/access_logs/2026-01-10", undefined, acting);
    expect(answer.status).toBe(200);
    const object = await env.AUDIT_LOGS.head(fileOf(clinic, "2026-01-10"));
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "content-type": "application/gzip",
      "content-disposition": 'attachment; filename="access-log-2026-01-10.ndjson.gz"',
      "content-length": String(object?.size),
    });
    expect(answer.headers.has("Content-Encoding")).toBe(false);
    expect(JSON.parse(answer.body)).toMatchObject({ at: "2026-01-10T10:00:00.000Z", event: "delete" });
    const entry = { acting_user: "auditor-7", purpose: "HOPERAT", api_client_id: reader.id };
    expect(await readings(clinic)).toMatchObject([
      ...before,
      { event: "read", resource: "access_log", resource_id: null, ...entry },
    ]);
  });

  it("returns 404 for a day that is not sealed or whose file is gone, and records nothing", async () => {
    await env.AUDIT_LOGS.put(fileOf(clinic, "2026-01-12"), "of a run that has not ended");
    await changingNothing(async () => {
      for (const date of ["2026-01-12", "2026-01-09", "2126-01-01"])
        expectRefusal(await clinic.client.get(`/access_logs/${date}`), 404, NOT_FOUND);
      for (const date of ["2026-02-30", "20260110", "x"])
        expectRefusal(await clinic.client.get(`/access_logs/${date}`), 404, "Not found");
    });
    const other = await aSealedClinic();
    await env.AUDIT_LOGS.delete(fileOf(other, "2026-01-11"));
    await changingNothing(async () =>
      expectRefusal(await other.client.get("/access_logs/2026-01-11"), 404, NOT_FOUND),
    );
  });

  it("shares a rate limit with NDJSON lists, and records nothing beyond it", async () => {
    const asked: string[] = [];
    const ACCESS_LOG_LIMIT = {
      limit: async ({ key }: { key: string }) => ({ success: asked.push(key) <= 1 }),
    };
    const client = clinic.client.through(throughWorkerWith({ ACCESS_LOG_LIMIT }));
    const { headers } = await client.get("/access_logs/2026-01-10");
    expect(headers.get("RateLimit-Policy")).toBe(
      '"client";q=1200;w=60, "organization";q=6000;w=60, "access_logs";q=30;w=60',
    );
    await changingNothing(async () => {
      const beyond = await client.get("/access_logs/2026-01-10");
      expectRefusal(
        beyond,
        429,
        "The organization's API clients have asked for too many exports, whole days or NDJSON lists of the access log: at most 30 a minute are served; try again in 60 seconds",
      );
      expect(beyond.headers.get("Retry-After")).toBe("60");
      const ndjson = { Accept: "application/x-ndjson" };
      expect((await client.send("GET", "/access_logs", undefined, ndjson)).status).toBe(429);
    });
    expect(new Set(asked)).toEqual(new Set([String(clinic.id)]));
    // JSON pages do not count.
    await given(client.get("/access_logs"));
  });

  it("returns 503 with Retry-After if the bucket fails, and records nothing", async () => {
    const AUDIT_LOGS = anAuditBucket({ get: () => Promise.reject(new Error(R2_FAULT)) });
    const client = clinic.client.through(throughWorkerWith({ AUDIT_LOGS }));
    const logged = await logOf(() =>
      changingNothing(async () => {
        const answer = await client.get("/access_logs/2026-01-10");
        expectRefusal(answer, 503, "The file cannot be read at the moment: try again");
        expect(answer.headers.get("Retry-After")).toBe("5");
      }),
    );
    expect(logged).toMatchObject([
      { event: "fault", organization_id: clinic.id },
      { event: "refused", status: 503, reason: "file_unavailable" },
    ]);
  });
});

describe("GET /.well-known/jwks.json", () => {
  const keysWith = async (bindings: object = {}) => {
    const answer = await api("", {})
      .through(throughWorkerWith({ AUDIT_SIGNING_KEY, ...bindings }))
      .get("/.well-known/jwks.json");
    expect(answer.status).toBe(200);
    expect(answer.headers.get("Cache-Control")).toBe("public, max-age=300");
    return answer.body.keys;
  };

  it("publishes the public part of the signing key and, once each, of former keys", async () => {
    const current = JSON.parse(AUDIT_SIGNING_KEY);
    const { kid, ...key } = (await keysWith())[0];
    expect(key).toEqual({ kty: "OKP", crv: "Ed25519", x: current.x, alg: "EdDSA", use: "sig" });
    expect(kid).toMatch(/^[\w-]{43}$/);
    const former = { kty: "OKP", crv: "Ed25519", x: "72nIXZt1A047YZY2TagYbyVDUk-ZagDnredDHlYVv8o" };
    // A private part was left in the setting.
    const AUDIT_PUBLIC_KEYS = JSON.stringify([{ ...former, d: "A".repeat(43) }, current, former]);
    const keys = await keysWith({ AUDIT_PUBLIC_KEYS });
    expect(keys.map(({ x }: { x: string }) => x)).toEqual([current.x, former.x]);
    expect(JSON.stringify(keys)).not.toContain('"d"');
  });

  it("publishes no keys without a signing key, and GET /health says so", async () => {
    const bindings = { AUDIT_SIGNING_KEY: "" };
    expect(await keysWith(bindings)).toEqual([]);
    const { get } = api("", {}).through(throughWorkerWith(bindings));
    expect((await get("/health")).body).toEqual({
      status: "ok",
      version: null,
      mail: "off",
      access_log_not_sealed: true,
    });
    const withKey = api("", {}).through(throughWorkerWith({ AUDIT_SIGNING_KEY }));
    expect((await withKey.get("/health")).body).toEqual({ status: "ok", version: null, mail: "off" });
  });

  it.each([
    ["AUDIT_SIGNING_KEY", "a text that is not JSON"],
    ["AUDIT_SIGNING_KEY", '{"kty":"OKP","crv":"Ed25519","x":"72nIXZt1A047YZY2TagYbyVDUk-ZagDnredDHlYVv8o"}'],
    ["AUDIT_PUBLIC_KEYS", '{"kty":"OKP","crv":"P-256"}'],
  ])("needs valid settings: GET /health returns 503 if %s is malformed: %s", async (name, value) => {
    const { get } = api("", {}).through(throughWorkerWith({ [name]: value }));
    const logged = await logOf(async () => expect((await get("/health")).status).toBe(503));
    expect(JSON.stringify(logged)).toContain(`${name} must be a`);
    expect(JSON.stringify(logged)).not.toContain(value.slice(10, -2));
  });
});
