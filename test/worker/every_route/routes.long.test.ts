import { describe, expect, it, vi } from "vitest";
import { app } from "../../../src/app.ts";
import type { Example } from "../../support/clinic.ts";
import { type Answer, api, type Fetcher, PLATFORM_TOKEN, platform } from "../support/api.ts";
import { everyRow, rowsOf, storedRows } from "../support/database.ts";
import { expectRefusal } from "../support/expectations.ts";
import { aLiveKitServer, LIVEKIT_KEY, signatureOf } from "../support/livekit.ts";
import { observedDatabase } from "../support/observed_database.ts";
import { anOrganization, given, type Organization } from "../support/organization.ts";
import {
  externalExamples,
  FROM_THE_NEAREST,
  liveKitExamples,
  platformExamples,
  routesBehind,
} from "../support/routes.ts";
import { changingNothing } from "../support/unchanged.ts";
import { throughWorkerWith } from "../support/worker.ts";

type Headed = Record<string, string>;

type Send = (method: string, path: string, body: unknown, headers?: Headed) => Promise<Answer>;

interface ApiUnderTest {
  name: "external" | "platform" | "livekit";
  examples: typeof externalExamples;
  /** Sends requests of the organization, the platform or LiveKit's server. */
  sender: (organization: Organization, fetcher?: Fetcher) => Send;
  unauthorized: string;
  wrongCredentials: (organization: Organization, request: Example) => Promise<Headed[]>;
}

const external: ApiUnderTest = {
  name: "external",
  examples: externalExamples,
  sender: ({ client }, fetcher) => (fetcher ? client.through(fetcher) : client).send,
  unauthorized: "Invalid client credentials",
  async wrongCredentials({ client: { credentials: right } }): Promise<Headed[]> {
    const other = await anOrganization();
    return [
      {},
      { "X-Client-ID": right["X-Client-ID"] ?? "" },
      { "X-Client-Secret": right["X-Client-Secret"] ?? "" },
      { ...right, "X-Client-ID": "made-up" },
      { ...right, "X-Client-Secret": "made-up" },
      { ...right, "X-Client-Secret": other.client.credentials["X-Client-Secret"] ?? "" },
      { ...right, "X-Client-Secret": `${right["X-Client-Secret"]}x` },
      { Authorization: `Bearer ${PLATFORM_TOKEN}` },
      { Authorization: await signatureOf("") },
    ];
  },
};

const ofPlatform: ApiUnderTest = {
  name: "platform",
  examples: platformExamples,
  sender: (_, fetcher) => (fetcher ? platform.through(fetcher) : platform).send,
  unauthorized: "Invalid platform token",
  wrongCredentials: async ({ client }): Promise<Headed[]> => [
    {},
    { Authorization: "" },
    { Authorization: "Bearer" },
    { Authorization: "Bearer " },
    { Authorization: `Bearer ${PLATFORM_TOKEN.slice(0, -1)}` },
    { Authorization: "Bearer made-up-platform-token" },
    { Authorization: `Bearer ${PLATFORM_TOKEN}x` },
    { Authorization: PLATFORM_TOKEN },
    { Authorization: `Basic ${PLATFORM_TOKEN}` },
    { Authorization: `Bearer ${await signatureOf("")}` },
    client.credentials,
  ],
};

const livekit: ApiUnderTest = {
  name: "livekit",
  examples: liveKitExamples,
  sender:
    (_, fetcher) =>
    (_method, _path, body, headers = {}) =>
      aLiveKitServer(fetcher ? { fetcher } : {}).send(JSON.stringify(body), headers),
  unauthorized: "Invalid LiveKit signature",
  wrongCredentials: async ({ client }, { body }): Promise<Headed[]> => [
    {},
    { Authorization: `Bearer ${PLATFORM_TOKEN}` },
    { Authorization: PLATFORM_TOKEN },
    { Authorization: LIVEKIT_KEY.secret },
    { Authorization: await signatureOf("") },
    { Authorization: await signatureOf(JSON.stringify(body), { ...LIVEKIT_KEY, secret: "x".repeat(32) }) },
    client.credentials,
  ],
};

const APIS = [external, ofPlatform, livekit];

const methodOf = (route: string) => route.split(" ")[0] ?? "";

/** Writes whose decision needs no stored data. */
const ONE_STATEMENT = [
  "POST /waiting_rooms",
  "POST /organizations",
  "DELETE /organizations/:organization_id/issuers/:id",
  "POST /webhook_endpoints/:id/ping",
];

/** The round trips to D1 that a request of a known client may cost. */
function tripsAllowed(route: string): number {
  // Beside its first, one for the access log, and one that ends its lease.
  if (route === "GET /participants/export") return 3;
  return route.startsWith("GET ") || ONE_STATEMENT.includes(route) ? 1 : 2;
}

/** The operations that take an Idempotency-Key. */
const TAKING_KEYS = [
  "POST /waiting_rooms",
  "POST /waiting_rooms/:waiting_room_slug/waiting_room_subs",
  "POST /invites",
  "POST /invites/bulk_create",
  "POST /visits",
  "POST /webhook_endpoints",
  "POST /api_clients",
];

/** The names of fields that no log may contain: persons, what they said, and whatever gives access. */
const SECRET = /name|email|reference|text|summary|reason|secret|token|code|url/;

const secretsIn = (value: unknown, field = ""): string[] => {
  if (typeof value === "string") return SECRET.test(field) && value.length > 5 ? [value] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) =>
    secretsIn(each, Array.isArray(value) ? field : name),
  );
};

const STORES_NOTHING = ["POST /webhook_endpoints/:id/ping", "POST /token_checks"];

const isInReserve = (route: string) =>
  route.startsWith("DELETE") ||
  app.routes.some(
    ({ method, path, handler }) =>
      `${method} ${path}` === route.replace(" ", " /api/external") && "reserve" in handler,
  );

/** The part of the day's quotas that all clients of the organization have used. */
async function usedOf(organization: Organization) {
  const days = (await storedRows(organization, "organization_days")).filter((day) => day.api_client_id === 0);
  const sum = (...columns: string[]) =>
    days.flatMap((day) => columns.map((column) => Number(day[column]))).reduce((a, b) => a + b, 0);
  return {
    writes: sum("writes"),
    reserved: sum("sign_ins", "reserved"),
    entries: sum("access_log_entries"),
  };
}

/** Sends our organization's request for a resource of theirs, which must show nothing of it, and change neither. */
async function meddle(
  ours: Organization,
  theirs: Organization,
  send: () => Promise<Answer>,
  refusal: number | undefined,
) {
  const [before, oursBefore] = [await rowsOf(theirs.id), await rowsOf(ours.id)];
  const answer = await send();
  if (refusal) {
    expect(answer.status).toBe(refusal);
    expect(await rowsOf(ours.id)).toEqual(oursBefore);
  } else {
    expect(answer.status).toBeLessThan(300);
  }
  expect(JSON.stringify(answer.body)).not.toMatch(
    new RegExp(`${theirs.slug}|Their Clinic|${theirs.admin.email}`),
  );
  expect(await rowsOf(theirs.id)).toEqual(before);
}

const NO_IDS = ["999999999", "0", "-1", "1.5", "1e3", "01", "+1", "x", "1x", "%201", "0x1", "9".repeat(20)];

/** Expects 404 for paths with a wrong value in the place of each id, slug and key, one after another. */
async function expectNothingElsewhere(route: string, send: (path: string) => Promise<Answer>, path: string) {
  const [beforeQuery = "", ...query] = path.split(/(?=\?)/);
  const segments = beforeQuery.split("/");
  for (const at of placesOf(route)) {
    const known = segments[at] ?? "";
    for (const wrong of /^\d+$/.test(known) ? NO_IDS : [`${known}-nowhere`, "%E0%A4%A"])
      expectRefusal(await send([segments.with(at, wrong).join("/"), ...query].join("")), 404);
  }
}

/** The segments that must name an existing resource. A PUT may create the resource that its last segment names. */
const placesOf = (route: string) =>
  route
    .replace(/^PUT (.*)\/:\w*(key|egress_id)$/, "PUT $1")
    .split("/")
    .flatMap((segment, at) => (segment.startsWith(":") ? [at] : []));

it.each(APIS)(
  "There is an example for every route of the $name API, and no other example",
  ({ name, examples }) => {
    expect(Object.keys(examples).sort()).toEqual(routesBehind(`/api/${name}`));
  },
);

const routes = APIS.flatMap((each) =>
  Object.entries(each.examples).map(([route, example]) => ({ ...each, route, example })),
);

describe.each(routes)(
  "$name API: $route",
  ({ name, route, example, sender, unauthorized, wrongCredentials }) => {
    const method = methodOf(route);

    it("succeeds in few round trips to D1, counts once, logs nothing secret, and ignores an Idempotency-Key that it does not take", async () => {
      const organization = await anOrganization();
      const { path, body } = await example(organization);
      const starts: string[] = [];
      const DB = observedDatabase({
        query(run, start) {
          starts.push(start);
          return run();
        },
      });
      const fetcher = throughWorkerWith({ DB });
      // From now on, the isolate knows the client.
      if (name === "external") await given(organization.client.through(fetcher).get("/waiting_rooms"));
      const takesKeys = name === "external" && TAKING_KEYS.includes(route);
      const key: Headed = takesKeys ? {} : { "Idempotency-Key": "x".repeat(300) };
      const before = await usedOf(organization);
      starts.length = 0;
      const lines: unknown[] = [];
      const spies = (["log", "info", "warn", "error"] as const).map((level) =>
        vi.spyOn(console, level).mockImplementation((...said) => void lines.push(...said)),
      );
      const answer = await sender(organization, fetcher)(method, path, body, key);
      for (const spy of spies) spy.mockRestore();
      expect(lines.length).toBeGreaterThan(0);
      const log = lines.join("\n");
      expect(secretsIn([body, answer.body]).filter((secret) => log.includes(secret))).toEqual([]);
      // The client of the tests compares each answer with the document, which has one success.
      expect(answer.status).toBeLessThan(300);
      // Only this keeps a cache from mixing organizations: caches do not know our headers with credentials.
      expect(answer.headers.get("Cache-Control")).toBe("no-store");
      expect(starts.length).toBeLessThanOrEqual(tripsAllowed(route));
      expect(answer.headers.get("Idempotent-Replayed")).toBeNull();
      expect(await storedRows(organization, "idempotency_keys")).toEqual([]);
      if (name !== "external") return expect(starts.length).toBeGreaterThan(0);
      const where = FROM_THE_NEAREST.includes(route) ? "first-unconstrained" : "first-primary";
      expect(starts).toEqual(starts.map(() => where));
      const after = await usedOf(organization);
      const writes =
        ["POST", "PUT"].includes(method) && !STORES_NOTHING.includes(route) && !isInReserve(route);
      expect(after.writes - before.writes).toBe(writes ? 1 : 0);
      expect(after.reserved - before.reserved > 0).toBe(isInReserve(route));
      if (isInReserve(route)) expect(after.entries).toBe(before.entries);
    });

    it("refuses missing and wrong credentials, and changes nothing", async () => {
      const organization = await anOrganization();
      const request = await example(organization);
      const wrong = await wrongCredentials(organization, request);
      const before = await everyRow();
      for (const credentials of wrong)
        expectRefusal(
          await api(`/api/${name}`, credentials).send(method, request.path, request.body),
          401,
          unauthorized,
        );
      expect(await everyRow()).toEqual(before);
    });

    if (placesOf(route).length > 0)
      it("returns 404 for an unknown or malformed id, slug or key", async () => {
        const organization = await anOrganization();
        const { path, body } = await example(organization);
        const send = sender(organization);
        await changingNothing(() =>
          expectNothingElsewhere(route, (other) => send(method, other, body), path),
        );
      });

    if (name === "external")
      it("neither shows nor changes another organization's data", async () => {
        const ours = await anOrganization("Our Clinic");
        const theirs = await anOrganization("Their Clinic");
        const { path, body, statusForOthers }: Example = await example(theirs);
        const refusal = statusForOthers ?? (route.includes(":") ? 404 : undefined);
        await meddle(ours, theirs, () => ours.client.send(method, path, body), refusal);
      });
  },
);

const OF_ORGANIZATION = "/organizations/:organization_id/";

/** The bodies of these routes also name resources of the organization. */
const NAMING_IN_BODY = ["PUT calls/:key", "PUT egresses/:egress_id", "POST api_clients"].map((route) =>
  route.replace(" ", ` ${OF_ORGANIZATION}`),
);

describe.each(Object.entries(platformExamples).filter(([route]) => route.includes(OF_ORGANIZATION)))(
  "%s",
  (route, example) => {
    it("neither shows nor changes the data of an organization that its path does not name", async () => {
      const ours = await anOrganization("Our Clinic");
      const theirs = await anOrganization("Their Clinic");
      const { path, body } = await example(theirs);
      const below = path.replace(`/organizations/${theirs.id}`, "");
      const refusal = NAMING_IN_BODY.includes(route)
        ? 422
        : route.replace(OF_ORGANIZATION, "").includes(":")
          ? 404
          : undefined;
      await meddle(ours, theirs, () => ours.platform.send(methodOf(route), below, body), refusal);
    });
  },
);
