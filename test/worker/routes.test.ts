import { describe, expect, it } from "vitest";
import type { Example } from "../support/clinic.ts";
import { type Answer, api, PLATFORM_TOKEN, platform } from "./support/api.ts";
import { everyRow, rowsOf } from "./support/database.ts";
import { expectRefusal } from "./support/expectations.ts";
import { LIVEKIT_KEY, signatureOf } from "./support/livekit.ts";
import { anOrganization, given, type Organization } from "./support/organization.ts";
import { externalExamples, liveKitExamples, platformExamples, routesBehind } from "./support/routes.ts";
import { changingNothing } from "./support/unchanged.ts";

const externalRoutes = routesBehind("/api/external");
const platformRoutes = routesBehind("/api/platform");
const liveKitRoutes = routesBehind("/api/livekit");

const methodOf = (route: string) => route.split(" ")[0] ?? "";

/** Those whose success is not that of their method: they make nothing that has a place of its own, or not yet. */
const OTHER_SUCCESSES: Record<string, number> = {
  "POST /auth/token_exchange": 200,
  "POST /invites/:id/resend": 202,
  "POST /invites/accept": 200,
  "POST /visits/redeem": 200,
  "POST /authorization_codes/redeem": 200,
  "POST /webhook_endpoints/:id/rotate_secret": 200,
  "POST /webhook_endpoints/:id/redeliver": 200,
  "POST /webhook_endpoints/:id/ping": 200,
};

const successOf = (route: string) =>
  OTHER_SUCCESSES[route] ?? { GET: 200, PUT: 200, POST: 201, DELETE: 204 }[methodOf(route)];

function exampleFor(examples: typeof externalExamples, route: string) {
  const example = examples[route];
  if (!example) throw new Error(`test/support/examples_*.ts have no example for ${route}`);
  return example;
}

/** Sends a request of our organization that names a thing of theirs: it must show nothing of it, and change neither. */
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

/** Expects 404 for a path with something else in the place of each id, slug and key, one after another. */
async function expectNothingElsewhere(route: string, send: (path: string) => Promise<Answer>, path: string) {
  const [beforeQuery = "", ...query] = path.split(/(?=\?)/);
  const segments = beforeQuery.split("/");
  for (const at of placesOf(route)) {
    const known = segments[at] ?? "";
    for (const wrong of /^\d+$/.test(known) ? NO_IDS : [`${known}-nowhere`, "%E0%A4%A"])
      expectRefusal(await send([segments.with(at, wrong).join("/"), ...query].join("")), 404);
  }
}

/** Where a path names something that must be there. A PUT may make what its last segment names. */
const placesOf = (route: string) =>
  route
    .replace(/^PUT (.*)\/:\w*(key|egress_id)$/, "PUT $1")
    .split("/")
    .flatMap((segment, at) => (segment.startsWith(":") ? [at] : []));

/** What only an organization_admin may see and change. */
const FOR_ADMINS = /^\w+ \/(events|access_log|webhook_endpoints)|^(PUT|DELETE) \/organization_users\/:id$/;

it("There is an example for every route, and for nothing else", () => {
  expect(Object.keys(externalExamples).sort()).toEqual(externalRoutes);
  expect(Object.keys(platformExamples).sort()).toEqual(platformRoutes);
  expect(Object.keys(liveKitExamples).sort()).toEqual(liveKitRoutes);
});

describe.each(externalRoutes)("%s of the external API", (route) => {
  const method = methodOf(route);
  const example = exampleFor(externalExamples, route);

  it("succeeds for the organization that owns the things it names", async () => {
    const { client, ...organization } = await anOrganization();
    const { path, body } = await example({ client, ...organization });
    expect((await client.send(method, path, body)).status).toBe(successOf(route));
  });

  it("refuses missing and wrong credentials, and changes nothing", async () => {
    const organization = await anOrganization();
    const other = await anOrganization();
    const { path, body } = await example(organization);
    const right = organization.client.credentials;
    const before = await everyRow();
    const wrongCredentials: Record<string, string>[] = [
      {},
      { "X-Client-ID": right["X-Client-ID"] },
      { "X-Client-Secret": right["X-Client-Secret"] },
      { ...right, "X-Client-ID": "made-up" },
      { ...right, "X-Client-Secret": "made-up" },
      { ...right, "X-Client-Secret": other.client.credentials["X-Client-Secret"] },
      { ...right, "X-Client-Secret": `${right["X-Client-Secret"]}x` },
      { Authorization: `Bearer ${PLATFORM_TOKEN}` },
    ];
    for (const wrong of wrongCredentials) {
      const refused = await api("/api/external", wrong).send(method, path, body);
      expect(refused).toMatchObject({ status: 401, body: { error: "Invalid client credentials" } });
    }
    expect(await everyRow()).toEqual(before);
  });

  it("neither shows nor changes what belongs to another organization", async () => {
    const ours = await anOrganization("Our Clinic");
    const theirs = await anOrganization("Their Clinic");
    const { path, body, statusForOthers }: Example = await example(theirs);
    const refusal = statusForOthers ?? (route.includes(":") ? 404 : undefined);
    await meddle(ours, theirs, () => ours.client.send(method, path, body), refusal);
  });

  if (FOR_ADMINS.test(route))
    it("is 404 for a client of anybody but an organization_admin, and changes nothing", async () => {
      const clinic = await anOrganization();
      const { path, body } = await example(clinic);
      for (const roles of [["provider"], ["provider_assistant"], ["provider", "provider_assistant"]]) {
        const client = await clinic.addClient((await clinic.addUser("Olga Other", roles)).id);
        expectRefusal(await changingNothing(() => client.send(method, path, body)), 404, / not found$/);
      }
    });

  if (placesOf(route).length > 0)
    it("is 404 for an id, slug or key that nothing has, and for what is no id", async () => {
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
    expect((await platform.send(method, path, body)).status).toBe(successOf(route));
  });

  if (placesOf(route).length > 0)
    it("is 404 for an id, slug or key that nothing has, and for what is no id", async () => {
      const { path, body } = await example(await anOrganization());
      await changingNothing(() =>
        expectNothingElsewhere(route, (other) => platform.send(method, other, body), path),
      );
    });

  it("refuses a missing or wrong platform token, and changes nothing", async () => {
    const organization = await anOrganization();
    const { path, body } = await example(organization);
    const before = await everyRow();
    const wrongCredentials: Record<string, string>[] = [
      {},
      { Authorization: "Bearer" },
      { Authorization: "Bearer made-up-platform-token" },
      { Authorization: `Bearer ${PLATFORM_TOKEN}x` },
      { Authorization: PLATFORM_TOKEN },
      { Authorization: `Basic ${PLATFORM_TOKEN}` },
      organization.client.credentials,
    ];
    for (const wrong of wrongCredentials) {
      const refused = await api("/api/platform", wrong).send(method, path, body);
      expect(refused).toMatchObject({ status: 401, body: { error: "Invalid platform token" } });
    }
    expect(await everyRow()).toEqual(before);
  });
});

const OF_ORGANIZATION = "/organizations/:organization_id/";

/** Their bodies name things of the organization, too. */
const NAMING_IN_BODY = ["PUT calls/:key", "PUT egresses/:egress_id", "POST api_clients"].map((route) =>
  route.replace(" ", ` ${OF_ORGANIZATION}`),
);

describe.each(platformRoutes.filter((route) => route.includes(OF_ORGANIZATION)))("%s", (route) => {
  it("neither shows nor changes what belongs to another organization than its path names", async () => {
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

describe.each(liveKitRoutes)("%s of LiveKit's API", (route) => {
  const method = methodOf(route);
  const example = exampleFor(liveKitExamples, route);

  it("succeeds for LiveKit's server", async () => {
    const { path, body } = await example(await anOrganization());
    const Authorization = await signatureOf(JSON.stringify(body));
    await given(api("/api/livekit", { Authorization }).send(method, path, body));
  });

  it("refuses a missing or wrong signature, and changes nothing", async () => {
    const organization = await anOrganization();
    const { path, body } = await example(organization);
    const before = await everyRow();
    const wrongCredentials: Record<string, string>[] = [
      {},
      { Authorization: `Bearer ${PLATFORM_TOKEN}` },
      { Authorization: PLATFORM_TOKEN },
      { Authorization: LIVEKIT_KEY.secret },
      { Authorization: await signatureOf("") },
      { Authorization: await signatureOf(JSON.stringify(body), { ...LIVEKIT_KEY, secret: "x".repeat(32) }) },
      organization.client.credentials,
    ];
    for (const wrong of wrongCredentials) {
      const refused = await api("/api/livekit", wrong).send(method, path, body);
      expect(refused).toMatchObject({ status: 401, body: { error: "Invalid LiveKit signature" } });
    }
    expect(await everyRow()).toEqual(before);
  });

  it("does not open the other APIs", async () => {
    const { body } = await example(await anOrganization());
    const Authorization = await signatureOf(JSON.stringify(body));
    const bearer = { Authorization: `Bearer ${Authorization}` };
    for (const credentials of [{ Authorization }, bearer])
      for (const base of ["/api/external", "/api/platform"])
        expect((await api(base, credentials).get("/waiting_rooms/x")).status).toBe(401);
  });
});
