import { describe, expect, it } from "vitest";
import type { Example } from "../../support/clinic.ts";
import { type Answer, api, PLATFORM_TOKEN, platform } from "../support/api.ts";
import { everyRow, rowsOf } from "../support/database.ts";
import { expectRefusal } from "../support/expectations.ts";
import { LIVEKIT_KEY, signatureOf } from "../support/livekit.ts";
import { anOrganization, given, type Organization } from "../support/organization.ts";
import { externalExamples, liveKitExamples, platformExamples, routesBehind } from "../support/routes.ts";
import { changingNothing } from "../support/unchanged.ts";

const externalRoutes = routesBehind("/api/external");
const platformRoutes = routesBehind("/api/platform");
const liveKitRoutes = routesBehind("/api/livekit");

const methodOf = (route: string) => route.split(" ")[0] ?? "";

/** Routes whose success is not that of their method: they create nothing with a path of its own, or not yet. */
const OTHER_SUCCESSES: Record<string, number> = {
  "POST /auth/token_exchange": 200,
  "POST /token_checks": 200,
  "POST /invites/:id/resend": 202,
  "POST /invites/accept": 200,
  "POST /visits/redeem": 200,
  "POST /authorization_codes/redeem": 200,
  "POST /webhook_endpoints/:id/rotate_secret": 200,
  "POST /webhook_endpoints/:id/redeliver": 200,
  "POST /webhook_endpoints/:id/ping": 200,
  "DELETE /participants": 200,
};

const successOf = (route: string) =>
  OTHER_SUCCESSES[route] ?? { GET: 200, PUT: 200, POST: 201, DELETE: 204 }[methodOf(route)];

/** Only `no-store` keeps a cache from mixing organizations: our credentials are not in headers that caches know. */
function expectSuccess({ status, headers }: Answer, route: string) {
  expect(status).toBe(successOf(route));
  expect(headers.get("Cache-Control")).toBe("no-store");
}

function exampleFor(examples: typeof externalExamples, route: string) {
  const example = examples[route];
  if (!example) throw new Error(`test/support/examples_*.ts have no example for ${route}`);
  return example;
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

async function expectCredentialsRefused(
  base: string,
  route: string,
  { path, body }: Example,
  error: string,
  wrongCredentials: Record<string, string>[],
) {
  const before = await everyRow();
  for (const wrong of wrongCredentials) {
    const answer = await api(base, wrong).send(methodOf(route), path, body);
    expectRefusal(answer, 401, error);
    expect(answer.headers.get("Cache-Control")).toBe("no-store");
  }
  expect(await everyRow()).toEqual(before);
}

/** The segments that must name an existing resource. A PUT may create the resource that its last segment names. */
const placesOf = (route: string) =>
  route
    .replace(/^PUT (.*)\/:\w*(key|egress_id)$/, "PUT $1")
    .split("/")
    .flatMap((segment, at) => (segment.startsWith(":") ? [at] : []));

it("There is an example for every route, and no other example", () => {
  expect(Object.keys(externalExamples).sort()).toEqual(externalRoutes);
  expect(Object.keys(platformExamples).sort()).toEqual(platformRoutes);
  expect(Object.keys(liveKitExamples).sort()).toEqual(liveKitRoutes);
});

describe.each(externalRoutes)("%s of the external API", (route) => {
  const method = methodOf(route);
  const example = exampleFor(externalExamples, route);

  it("succeeds for the organization that owns the resources", async () => {
    const { client, ...organization } = await anOrganization();
    const { path, body } = await example({ client, ...organization });
    expectSuccess(await client.send(method, path, body), route);
  });

  it("refuses missing and wrong credentials, and changes nothing", async () => {
    const organization = await anOrganization();
    const other = await anOrganization();
    const request = await example(organization);
    const right = organization.client.credentials;
    await expectCredentialsRefused("/api/external", route, request, "Invalid client credentials", [
      {},
      { "X-Client-ID": right["X-Client-ID"] },
      { "X-Client-Secret": right["X-Client-Secret"] },
      { ...right, "X-Client-ID": "made-up" },
      { ...right, "X-Client-Secret": "made-up" },
      { ...right, "X-Client-Secret": other.client.credentials["X-Client-Secret"] },
      { ...right, "X-Client-Secret": `${right["X-Client-Secret"]}x` },
      { Authorization: `Bearer ${PLATFORM_TOKEN}` },
    ]);
  });

  it("neither shows nor changes another organization's data", async () => {
    const ours = await anOrganization("Our Clinic");
    const theirs = await anOrganization("Their Clinic");
    const { path, body, statusForOthers }: Example = await example(theirs);
    const refusal = statusForOthers ?? (route.includes(":") ? 404 : undefined);
    await meddle(ours, theirs, () => ours.client.send(method, path, body), refusal);
  });

  if (placesOf(route).length > 0)
    it("returns 404 for an unknown or malformed id, slug or key", async () => {
      const clinic = await anOrganization();
      const { path, body } = await example(clinic);
      await changingNothing(() =>
        expectNothingElsewhere(route, (other) => clinic.client.send(method, other, body), path),
      );
    });
});

describe.each(platformRoutes)("%s of the platform API", (route) => {
  const method = methodOf(route);
  const example = exampleFor(platformExamples, route);

  it("succeeds for the platform", async () => {
    const { path, body } = await example(await anOrganization());
    expectSuccess(await platform.send(method, path, body), route);
  });

  if (placesOf(route).length > 0)
    it("returns 404 for an unknown or malformed id, slug or key", async () => {
      const { path, body } = await example(await anOrganization());
      await changingNothing(() =>
        expectNothingElsewhere(route, (other) => platform.send(method, other, body), path),
      );
    });

  it("refuses a missing or wrong platform token, and changes nothing", async () => {
    const organization = await anOrganization();
    const request = await example(organization);
    await expectCredentialsRefused("/api/platform", route, request, "Invalid platform token", [
      {},
      { Authorization: "Bearer" },
      { Authorization: "Bearer made-up-platform-token" },
      { Authorization: `Bearer ${PLATFORM_TOKEN}x` },
      { Authorization: PLATFORM_TOKEN },
      { Authorization: `Basic ${PLATFORM_TOKEN}` },
      organization.client.credentials,
    ]);
  });
});

const OF_ORGANIZATION = "/organizations/:organization_id/";

/** The bodies of these routes also name resources of the organization. */
const NAMING_IN_BODY = ["PUT calls/:key", "PUT egresses/:egress_id", "POST api_clients"].map((route) =>
  route.replace(" ", ` ${OF_ORGANIZATION}`),
);

describe.each(platformRoutes.filter((route) => route.includes(OF_ORGANIZATION)))("%s", (route) => {
  it("neither shows nor changes the data of an organization that its path does not name", async () => {
    const ours = await anOrganization("Our Clinic");
    const theirs = await anOrganization("Their Clinic");
    const { path, body } = await exampleFor(platformExamples, route)(theirs);
    const below = path.replace(`/organizations/${theirs.id}`, "");
    const refusal = NAMING_IN_BODY.includes(route)
      ? 422
      : route.replace(OF_ORGANIZATION, "").includes(":")
        ? 404
        : undefined;
    await meddle(ours, theirs, () => ours.platform.send(methodOf(route), below, body), refusal);
  });
});

describe.each(liveKitRoutes)("%s of the LiveKit API", (route) => {
  const method = methodOf(route);
  const example = exampleFor(liveKitExamples, route);

  it("succeeds for LiveKit's server", async () => {
    const { path, body } = await example(await anOrganization());
    const Authorization = await signatureOf(JSON.stringify(body));
    await given(api("/api/livekit", { Authorization }).send(method, path, body));
  });

  it("refuses a missing or wrong signature, and changes nothing", async () => {
    const organization = await anOrganization();
    const request = await example(organization);
    const signed = JSON.stringify(request.body);
    await expectCredentialsRefused("/api/livekit", route, request, "Invalid LiveKit signature", [
      {},
      { Authorization: `Bearer ${PLATFORM_TOKEN}` },
      { Authorization: PLATFORM_TOKEN },
      { Authorization: LIVEKIT_KEY.secret },
      { Authorization: await signatureOf("") },
      { Authorization: await signatureOf(signed, { ...LIVEKIT_KEY, secret: "x".repeat(32) }) },
      organization.client.credentials,
    ]);
  });

  it("has a signature that does not open the other APIs", async () => {
    const { body } = await example(await anOrganization());
    const Authorization = await signatureOf(JSON.stringify(body));
    const bearer = { Authorization: `Bearer ${Authorization}` };
    for (const credentials of [{ Authorization }, bearer])
      for (const base of ["/api/external", "/api/platform"])
        expect((await api(base, credentials).get("/waiting_rooms/x")).status).toBe(401);
  });
});
