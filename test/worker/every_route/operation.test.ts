import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { runCron } from "../../../src/cron.ts";
import { DATABASE_TIMEOUT } from "../../../src/tuning.ts";
import { MINUTE } from "../../../src/units.ts";
import { api, type Fetcher, PLATFORM_TOKEN, platform } from "../support/api.ts";
import { countingRoundTrips } from "../support/database.ts";
import { aSlowDatabase, observedDatabase } from "../support/observed_database.ts";
import { anOrganization } from "../support/organization.ts";
import { travelTo } from "../support/time.ts";
import { throughWorkerWith } from "../support/worker.ts";

const anybody = api("", {});

const withBindings = (bindings: object) => anybody.through(throughWorkerWith(bindings));

/** The lines that the Worker logged during a test. */
let log: () => string[];
beforeEach(() => {
  const spies = [vi.spyOn(console, "log"), vi.spyOn(console, "error")];
  log = () => spies.flatMap(({ mock }) => mock.calls.map(([line]) => String(line)));
  return () => vi.restoreAllMocks();
});

describe("GET /health", () => {
  const NOT_READY = { status: 503, body: { error: "The service is not ready" } };

  it("is open to everybody, and costs one round trip", async () => {
    const counting = countingRoundTrips();
    const trips = await counting.during(async () => {
      const answer = await anybody.through(counting.fetcher).get("/health");
      expect(answer).toMatchObject({ status: 200, body: { status: "ok" } });
    });
    expect(trips).toBe(1);
  });

  it("asks the database at most once in 5 seconds, whether it works or not", async () => {
    for (const [query, status] of [
      [undefined, 200],
      [() => Promise.reject(new Error("D1_ERROR: Network connection lost.")), 503],
    ] as const) {
      let asked = 0;
      const DB = observedDatabase({
        query: (run) => {
          asked++;
          return query ? query() : run();
        },
      });
      const service = withBindings({ DB });
      const start = Date.parse("2026-01-31T09:30:00Z");
      for (const [seconds, times] of [
        [0, 1],
        [4.9, 1],
        [5, 2],
        [9, 2],
      ] as const) {
        travelTo(new Date(start + seconds * 1000).toISOString());
        expect((await service.get("/health")).status).toBe(status);
        expect(asked).toBe(times);
      }
    }
  });

  it("names organizations that were frozen more than an hour ago and have not moved, as the cron's log does", async () => {
    const [{ id }, moved] = [await anOrganization(), await anOrganization()];
    const answers = async () => (await withBindings({ DB: observedDatabase({}) }).get("/health")).body;
    const begun = (minutes: number) =>
      env.DB.batch([
        env.DB.prepare("delete from moves"),
        env.DB.prepare(
          "insert into moves (organization_id, shard, since) values (?, null, ?), (?, 1, 0)",
        ).bind(id, Date.now() - minutes * MINUTE, moved.id),
      ]);
    onTestFinished(() => void env.DB.exec("delete from moves"));
    await begun(59);
    expect(await answers()).toMatchObject({ status: "ok" });
    await begun(61);
    expect(await answers()).toMatchObject({ status: "frozen", frozen_organizations: [id] });
    await runCron(env, Date.now());
    const named = { event: "organization_frozen", organization_id: id, since: expect.any(String) };
    expect(log().map((line) => JSON.parse(line))).toContainEqual(named);
  });

  it("returns 503 without details if the database cannot be reached", async () => {
    const lost = observedDatabase({
      query: () => Promise.reject(new Error("D1_ERROR: Network connection lost.")),
    });
    expect(await withBindings({ DB: lost }).get("/health")).toMatchObject(NOT_READY);
    expect(log()).toContainEqual(expect.stringContaining('"reason":"database_unreachable"'));
  });

  it("waits for a slow database, if it is the only one", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    const { DB, asked, release } = aSlowDatabase();
    const answer = withBindings({ DB }).get("/health");
    await asked;
    await vi.advanceTimersByTimeAsync(DATABASE_TIMEOUT);
    release();
    vi.useRealTimers();
    expect((await answer).status).toBe(200);
  });

  it.each([
    ["was never migrated", "lost_table"],
    ["lacks the newest migration", "(select * from d1_migrations order by id desc limit -1 offset 1)"],
  ])("returns 503 without details if the database %s", async (_, migrations) => {
    const prepare = (text: string) => env.DB.prepare(text.replace("d1_migrations", migrations));
    expect(await withBindings({ DB: { prepare } }).get("/health")).toMatchObject(NOT_READY);
    expect(log()).toContainEqual(expect.stringContaining('"reason":"migrations_missing"'));
  });

  it("returns 503 if a setting is missing or wrong, and names it without its value", async () => {
    const answer = await withBindings({ APP_URL: undefined, DIGEST_SECRET: "short" }).get("/health");
    expect(answer).toMatchObject({
      status: 503,
      body: { error: "The service is not ready: set APP_URL, DIGEST_SECRET" },
    });
    expect(log()).toContainEqual(expect.stringContaining('"reason":"settings_at_fault"'));
    expect(log()).toContainEqual(expect.stringMatching(/APP_URL is not set.*npm run dev/));
  });
});

describe("A request by plain HTTP", () => {
  const INSECURE = {
    status: 403,
    body: { error: "Use HTTPS, and replace the credentials: they were sent unencrypted" },
  };

  const byHttp = (host: string, bindings: object = {}): Fetcher => {
    const worker = throughWorkerWith(bindings);
    return (request) =>
      worker(new Request(request.url.replace("https://service.test", `http://${host}`), request));
  };

  it.each([
    ["/api/external", "/waiting_rooms"],
    ["/api/platform", "/organizations"],
    ["/api/livekit", "/webhook"],
    ["", "/api"],
    ["", "/.well-known/security.txt"],
  ])("is refused before it is read: %s%s", async (base, path) => {
    const { client } = await anOrganization();
    const credentials = { ...client.credentials, Authorization: `Bearer ${PLATFORM_TOKEN}` };
    for (const headers of [credentials, {}])
      for (const method of ["GET", "POST"])
        expect(await api(base, headers, byHttp("service.test")).send(method, path)).toMatchObject(INSECURE);
  });

  it("is answered by /health, which names the deployed version", async () => {
    const byHttpHere = byHttp("service.test", { VERSION: "3f2a1b9c0d1e" });
    const answer = await anybody.through(byHttpHere).get("/health");
    expect(answer).toMatchObject({ status: 200, body: { status: "ok", version: "3f2a1b9c0d1e" } });
    expect(answer.body).not.toHaveProperty("allow_http");
  });

  it.each(["localhost:8787", "127.0.0.1", "[::1]:8787"])("is served on %s", async (host) => {
    expect(await platform.through(byHttp(host)).get("/waiting_rooms/none")).toMatchObject({ status: 404 });
  });

  it("is served everywhere if the operator allows it, which /health shows", async () => {
    const allowed = byHttp("visits", { ALLOW_HTTP: "true" });
    expect(await platform.through(allowed).get("/waiting_rooms/none")).toMatchObject({ status: 404 });
    expect((await anybody.through(allowed).get("/health")).body).toEqual({
      status: "ok",
      version: null,
      mail: "off",
      allow_http: true,
      access_log_not_sealed: true,
    });
    const forbidden = byHttp("visits", { ALLOW_HTTP: "false" });
    expect(await platform.through(forbidden).get("/waiting_rooms/none")).toMatchObject(INSECURE);
  });
});

describe("An error of D1", () => {
  const answerWhere = (message: string) => {
    const DB = observedDatabase({ query: () => Promise.reject(new Error(`D1_ERROR: ${message}`)) });
    return platform.through(throughWorkerWith({ DB })).get("/waiting_rooms/none");
  };

  it.each([
    "D1 DB is overloaded. Requests queued for too long.",
    "D1 DB is overloaded. Too many requests queued.",
    "D1 DB storage operation exceeded timeout which caused object to be reset.",
    "Internal error in D1 DB storage caused object to be reset.",
    "D1 DB reset because its code was updated.",
    "Cannot resolve D1 DB due to transient issue on remote node.",
    "The request timed out.",
    "Network connection lost.",
    "Currently processing a long-running import.",
  ])("returns 503 with Retry-After if it is temporary, and is logged with its cause: %s", async (message) => {
    const answer = await answerWhere(message);
    const body = { error: "The database is not available at the moment: try again" };
    expect(answer).toMatchObject({ status: 503, body });
    expect(answer.headers.get("Retry-After")).toBe("5");
    const fault = log().find((line) => line.includes('"event":"fault"'));
    expect(fault).toContain(message);
    expect(fault).toContain(String(answer.headers.get("X-Request-Id")));
  });

  it.each([
    "no such column: nowhere: SQLITE_ERROR",
    "D1 DB exceeded its CPU time limit and was reset.",
    "D1 DB's isolate exceeded its memory limit and was reset.",
  ])("returns 500 if it is permanent: %s", async (message) => {
    expect(await answerWhere(message)).toMatchObject({
      status: 500,
      body: { error: "Internal server error" },
    });
  });
});

it("The platform's token is valid together with the previous one during a rotation, and only then", async () => {
  const previous = "the-platform-token-before-this-one";
  const rotating = { PLATFORM_API_TOKEN_PREVIOUS: previous };
  for (const [token, bindings, status] of [
    [previous, rotating, 404],
    [PLATFORM_TOKEN, rotating, 404],
    ["neither-of-the-two-tokens", rotating, 401],
    [previous, {}, 401],
  ] as const) {
    const fetcher = throughWorkerWith(bindings);
    const rotated = api("/api/platform", { Authorization: `Bearer ${token}` }, fetcher);
    expect((await rotated.get("/waiting_rooms/none")).status).toBe(status);
  }
});

describe("A required setting", () => {
  const statusWith = async (bindings: object, token = PLATFORM_TOKEN) => {
    const headers = { Authorization: `Bearer ${token}` };
    const platformOf = api("/api/platform", headers, throughWorkerWith(bindings));
    return (await platformOf.get("/waiting_rooms/none")).status;
  };

  it.each([undefined, "", " "])("stops every request if it is %j, and the log names it", async (APP_URL) => {
    expect(await statusWith({ APP_URL })).toBe(500);
    expect(log()).toContainEqual(expect.stringContaining("APP_URL is not set"));
  });

  it("stops every request if it is a platform token of fewer than 32 characters", async () => {
    for (const name of ["PLATFORM_API_TOKEN", "PLATFORM_API_TOKEN_PREVIOUS"]) {
      const token = "x".repeat(31);
      expect(await statusWith({ [name]: token }, token)).toBe(500);
      expect(await statusWith({ [name]: `${token}x` }, `${token}x`)).toBe(404);
    }
  });
});

describe("The settings of LiveKit", () => {
  const NONE = { LIVEKIT_API_KEY: undefined, LIVEKIT_API_SECRET: undefined };
  const KEY = { LIVEKIT_API_KEY: "key", LIVEKIT_API_SECRET: "x".repeat(32) };
  const PREVIOUS = { LIVEKIT_API_KEY_PREVIOUS: "old", LIVEKIT_API_SECRET_PREVIOUS: "y".repeat(32) };

  const health = async (bindings: object) =>
    (await withBindings({ ...NONE, ...bindings }).get("/health")).status;

  it("may all be left out, and accept the address in the forms of LiveKit's tools", async () => {
    for (const bindings of [{}, KEY, { ...KEY, ...PREVIOUS }]) expect(await health(bindings)).toBe(200);
    for (const LIVEKIT_URL of ["https://livekit.example", "wss://livekit.example/", "ws://localhost:7880"])
      expect(await health({ ...KEY, LIVEKIT_URL })).toBe(200);
  });

  it.each([
    ["LIVEKIT_API_SECRET must be set too", { LIVEKIT_API_KEY: "key" }],
    ["LIVEKIT_API_KEY must be set too", { LIVEKIT_API_SECRET: "x".repeat(32) }],
    ["LIVEKIT_API_KEY must be set too", PREVIOUS],
    ["LIVEKIT_API_KEY must be set too", { LIVEKIT_URL: "wss://livekit.example" }],
    ["LIVEKIT_API_SECRET", { ...KEY, LIVEKIT_API_SECRET: "x".repeat(31) }],
    ["LIVEKIT_API_SECRET_PREVIOUS must be set too", { ...KEY, LIVEKIT_API_KEY_PREVIOUS: "old" }],
    ["LIVEKIT_API_KEY_PREVIOUS must be set too", { ...KEY, LIVEKIT_API_SECRET_PREVIOUS: "y".repeat(32) }],
    ["LIVEKIT_URL must be a URL", { ...KEY, LIVEKIT_URL: "livekit.example" }],
    ["LIVEKIT_URL must be a URL", { ...KEY, LIVEKIT_URL: "ftp://livekit.example" }],
    ["LIVEKIT_URL must be a URL", { ...KEY, LIVEKIT_URL: "/livekit" }],
  ])("are named in the log if they are missing or wrong: %s with %o", async (fault, bindings) => {
    expect(await health(bindings)).toBe(503);
    expect(log()).toContainEqual(expect.stringContaining(fault));
  });
});

describe("The secrets of .dev.vars.example, which everybody can read,", () => {
  const token = "development-platform-token-for-localhost";
  const INVITE_TOKEN_SECRET = "development-invite-secret-for-localhost";
  const LIVEKIT_API_SECRET = "development-livekit-secret-for-localhost";

  const statusOf = async (url: string, bindings: object) => {
    const headers = { Authorization: `Bearer ${token}` };
    return (await throughWorkerWith(bindings)(new Request(url, { headers }))).status;
  };

  it.each(["http://localhost:8787", "http://127.0.0.1:8787", "http://[::1]:8787"])(
    "work for a developer at %s",
    async (origin) => {
      const bindings = { PLATFORM_API_TOKEN: token, INVITE_TOKEN_SECRET, LIVEKIT_API_SECRET };
      expect(await statusOf(`${origin}/health`, bindings)).toBe(200);
      expect(await statusOf(`${origin}/api/platform/waiting_rooms/none`, bindings)).toBe(404);
    },
  );

  it.each([
    ["PLATFORM_API_TOKEN", token],
    ["PLATFORM_API_TOKEN_PREVIOUS", token],
    ["INVITE_TOKEN_SECRET", INVITE_TOKEN_SECRET],
    ["DIGEST_SECRET", "development-digest-secret-for-localhost"],
    ["LIVEKIT_API_SECRET", LIVEKIT_API_SECRET],
    ["LIVEKIT_API_SECRET_PREVIOUS", LIVEKIT_API_SECRET],
  ])("stop every request elsewhere: %s", async (name, value) => {
    for (const origin of [
      "https://visits.example",
      "https://localhost.visits.example",
      "https://notlocalhost",
      "https://192.168.0.7:8787",
    ]) {
      const previous = name === "LIVEKIT_API_SECRET_PREVIOUS" ? { LIVEKIT_API_KEY_PREVIOUS: "old" } : {};
      const bindings = { ...previous, [name]: value };
      for (const path of ["/api/platform/waiting_rooms/none", "/api/external/waiting_rooms"])
        expect(await statusOf(origin + path, bindings), origin + path).toBe(500);
      expect(await statusOf(`${origin}/health`, bindings)).toBe(503);
    }
    expect(log()).toContainEqual(expect.stringMatching(new RegExp(`${name}.*localhost`)));
    expect(log().join()).not.toContain(value);
  });
});
