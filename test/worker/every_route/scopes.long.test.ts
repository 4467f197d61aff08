import { describe, expect, it } from "vitest";
import { SCOPES, type Scope } from "../../../src/database/enums.ts";
import { scopeOf } from "../../model/operation.ts";
import { OPERATIONS } from "../../model/operations.ts";
import type { Example } from "../../support/clinic.ts";
import { api, PLATFORM_TOKEN, theWorker } from "../support/api.ts";
import { everyRowAsText } from "../support/database.ts";
import { expectRefusal } from "../support/expectations.ts";
import { anOrganization, given, type Organization } from "../support/organization.ts";
import { externalExamples, platformExamples, routesBehind } from "../support/routes.ts";
import { throughWorkerWith } from "../support/worker.ts";

/** The scope and the roles that each route needs, according to the model. */
const scoped = routesBehind("/api/external").flatMap((route): [string, Scope, string[]?][] => {
  const [method = "", path = ""] = route.split(" ");
  const { area, roles } = OPERATIONS[`external ${method} ${path.replace(/:(\w+)/g, "{$1}")}`] ?? {};
  return area ? [[route, scopeOf(area, method) as Scope, roles]] : [];
});

const withScopes = (clinic: Organization, ...scopes: Scope[]) =>
  clinic.addClient(clinic.admin.id, { scopes });

/** All scopes that do not grant this one. */
const allBut = (scope: Scope) =>
  SCOPES.filter((each) => each !== scope && each !== scope.replace(":read", ":write"));

/** A client with scopes cannot create a client without scopes. */
const withinScopes = ({ path, body }: Example) =>
  path === "/api_clients" && body
    ? { api_client: { ...(body as { api_client: object }).api_client, scopes: ["organization:read"] } }
    : body;

/** Like `changingNothing`, but without moving the clock, because a code would expire. */
async function leavingAllRows<T>(work: () => Promise<T>): Promise<T> {
  const before = await everyRowAsText();
  const result = await work();
  expect(await everyRowAsText()).toEqual(before);
  return result;
}

it("Every scope opens a route, and one route needs none", () => {
  expect([...new Set(scoped.map(([, scope]) => scope))].sort()).toEqual([...SCOPES].sort());
  const free = routesBehind("/api/external").filter((route) => !scoped.some(([each]) => each === route));
  expect(free).toEqual(["GET /api_client"]);
});

it.each(scoped)("%s needs the scope %s, and a role", async (route, scope, roles) => {
  const clinic = await anOrganization();
  const example = await externalExamples[route]?.(clinic);
  if (!example) throw new Error(`There is no example of ${route}`);
  const [method = ""] = route.split(" ");
  const others = await withScopes(clinic, ...allBut(scope));
  const refused = await leavingAllRows(() => others.send(method, example.path, example.body));
  expect(refused.headers.get("Error-Code")).toBe("missing_scope");
  expectRefusal(
    refused,
    403,
    `This API client does not have the scope ${scope}: use a client that has it; an administrator can create one`,
  );
  for (const role of ["provider", "provider_assistant"]) {
    const client = await clinic.addClient((await clinic.addUser("Olga Other", [role])).id);
    const send = () => client.send(method, example.path, example.body);
    const isRefused = roles !== undefined && !roles.includes(role);
    const { headers } = isRefused ? await leavingAllRows(send) : await send();
    expect(headers.get("Error-Code") === "missing_role").toBe(isRefused);
  }
  // The other roles may have used the example up.
  const again = (await externalExamples[route]?.(clinic)) ?? example;
  const client = await withScopes(clinic, scope);
  expect((await client.send(method, again.path, withinScopes(again))).status).toBeLessThan(300);
});

describe("A scope", () => {
  // The model checks that a missing scope is found before the other faults of a request.
  it("for writing includes reading, one for reading also opens HEAD, and an unknown path needs none", async () => {
    const clinic = await anOrganization();
    const writer = await withScopes(clinic, "rooms:write");
    await given(writer.get("/waiting_rooms"));
    const { credentials } = await withScopes(clinic, "rooms:read");
    const head = (path: string) =>
      theWorker(
        new Request(`https://service.test/api/external${path}`, { method: "HEAD", headers: credentials }),
      );
    expect((await head("/waiting_rooms")).status).toBe(200);
    expect((await head("/visits")).status).toBe(403);
    expectRefusal(await writer.get("/nothing"), 404, "Not found");
  });
});

const REPORTS = "test-reports-token-of-32-characters";
const WEB_APP = "test-web-app-token-of-32-characters";

/** The routes that each token for a part of the platform API opens. */
const OPENED: Record<string, string[]> = {
  [REPORTS]: [
    "PUT /waiting_rooms/:slug/participants/:key",
    "GET /organizations/:organization_id/calls/:key",
    "PUT /organizations/:organization_id/calls/:key",
    "PUT /organizations/:organization_id/calls/:key/transcript",
    "PUT /organizations/:organization_id/calls/:key/soap_note",
    "PUT /organizations/:organization_id/egresses/:egress_id",
  ],
  [WEB_APP]: [
    "GET /events",
    "GET /waiting_rooms/:slug",
    "PUT /waiting_rooms/:slug/participants/:key",
    "POST /authorization_codes/redeem",
    "POST /visits/redeem",
    "POST /invites/accept",
  ],
};

const withToken = (token: string) =>
  api(
    "/api/platform",
    { Authorization: `Bearer ${token}` },
    throughWorkerWith({ PLATFORM_REPORTS_TOKEN: REPORTS, PLATFORM_WEB_APP_TOKEN: WEB_APP }),
  );

describe("The platform's tokens for parts of its API", () => {
  it.each(routesBehind("/api/platform"))("open only their own routes: %s", async (route) => {
    const example = await platformExamples[route]?.(await anOrganization());
    if (!example) throw new Error(`There is no example of ${route}`);
    const [method = ""] = route.split(" ");
    const send = (token: string) => withToken(token).send(method, example.path, example.body);
    const [open = [], closed = []] = [true, false].map((isOpen) =>
      [REPORTS, WEB_APP].filter((token) => OPENED[token]?.includes(route) === isOpen),
    );
    for (const token of closed) {
      const refused = await leavingAllRows(() => send(token));
      expect(refused.headers.get("Error-Code")).toBe("missing_scope");
      expectRefusal(
        refused,
        403,
        /^The platform token that was sent does not open this route: send PLATFORM_API_TOKEN/,
      );
    }
    const [token = PLATFORM_TOKEN] = open;
    expect((await send(token)).status).toBeLessThan(300);
  });

  it("are refused before anything is looked up, but after unknown paths", async () => {
    const reports = withToken(REPORTS);
    expectRefusal(
      await reports.get("/waiting_rooms/nowhere"),
      403,
      "The platform token that was sent does not open this route: send PLATFORM_API_TOKEN or PLATFORM_WEB_APP_TOKEN",
    );
    expectRefusal(await reports.post("/organizations", "no JSON"), 403);
    expectRefusal(await reports.get("/organizations/no-id"), 403);
    expectRefusal(await reports.get("/nothing"), 404, "Not found");
    expectRefusal(await reports.get("/organizations/1/nothing"), 404, "Not found");
  });

  it("have a previous value during their rotation, which opens the same routes", async () => {
    const fetcher = throughWorkerWith({
      PLATFORM_REPORTS_TOKEN: "the-new-reports-token-of-32-characters",
      PLATFORM_REPORTS_TOKEN_PREVIOUS: REPORTS,
      PLATFORM_WEB_APP_TOKEN_PREVIOUS: WEB_APP,
    });
    const sendWith = (token: string, path: string) =>
      api("/api/platform", { Authorization: `Bearer ${token}` }, fetcher).get(path);
    for (const [token, opened, closed] of [
      ["the-new-reports-token-of-32-characters", "/organizations/1/calls/none", "/events"],
      [REPORTS, "/organizations/1/calls/none", "/events"],
      [WEB_APP, "/waiting_rooms/nowhere", "/organizations/1/calls/none"],
    ] as const) {
      expect((await sendWith(token, opened)).status).toBe(404);
      expectRefusal(await sendWith(token, closed), 403, /^The platform token that was sent does not open/);
    }
  });

  it("open nothing if they are not set", async () => {
    const unset = api("/api/platform", { Authorization: `Bearer ${REPORTS}` });
    expectRefusal(await unset.get("/organizations"), 401, "Invalid platform token");
  });

  it("are not mentioned by GET /health", async () => {
    const fetcher = throughWorkerWith({ PLATFORM_REPORTS_TOKEN: REPORTS, PLATFORM_WEB_APP_TOKEN: WEB_APP });
    const health = await fetcher(new Request("https://service.test/health"));
    expect(await health.text()).not.toMatch(/token/i);
  });

  it("cannot delete anything, and cannot begin or end a legal hold", () => {
    for (const route of Object.values(OPENED).flat()) expect(route).not.toMatch(/^DELETE|legal_hold/);
  });
});
