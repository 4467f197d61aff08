import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it } from "vitest";
import { type Answer, type Fetcher, platform } from "../support/api.ts";
import { rowsOf } from "../support/database.ts";
import { directory } from "../support/deployed.ts";
import { aLiveKitServer } from "../support/livekit.ts";
import { observedDatabase } from "../support/observed_database.ts";
import { anOrganization, given, type Organization } from "../support/organization.ts";
import { externalExamples, liveKitExamples, platformExamples } from "../support/routes.ts";
import { throughWorkerWith } from "../support/worker.ts";

/** Deletes the places of half-created organizations, which would count in a list that other tests read. */
afterEach(async () => {
  const made = await env.DB.prepare("select json_group_array(id) as ids from organizations").first("ids");
  await directory
    .prepare("delete from places where id not in (select value from json_each(?))")
    .bind(made)
    .run();
});

const lost = () => new Error("D1_ERROR: Network connection lost.");

function aFailingDatabase() {
  let fault: ((trip: number, run: () => Promise<unknown>) => Promise<unknown>) | undefined;
  let trips = 0;
  const DB = observedDatabase({
    query: (run) => (fault ? fault(++trips, run) : run()) as ReturnType<typeof run>,
  });
  return {
    fetcher: throughWorkerWith({ DB }),
    async during<T>(next: typeof fault, work: () => Promise<T>): Promise<T> {
      [fault, trips] = [next, 0];
      try {
        return await work();
      } finally {
        fault = undefined;
      }
    },
  };
}

/** Every route of the three APIs, with a request that succeeds, from a client that the isolate knows. */
const routes = Object.entries({ externalExamples, platformExamples, liveKitExamples }).flatMap(
  ([name, examples]) =>
    Object.entries(examples).map(([route, example]) => ({
      api: name.replace("Examples", ""),
      route,
      async prepare() {
        const clinic = await anOrganization();
        const { path, body } = await example(clinic);
        const database = aFailingDatabase();
        const send = await sender(name, clinic, database.fetcher);
        const [method = ""] = route.split(" ");
        return { clinic, database, send: () => send(method, path, body) };
      },
    })),
);

type Send = (method: string, path: string, body: unknown) => Promise<Answer>;

async function sender(name: string, clinic: Organization, fetcher: Fetcher): Promise<Send> {
  if (name === "liveKitExamples") {
    const server = aLiveKitServer({ fetcher });
    return (_method, _path, body) => server.send(JSON.stringify(body));
  }
  if (name === "platformExamples") return platform.through(fetcher).send;
  const client = clinic.client.through(fetcher);
  await given(client.get("/waiting_rooms"));
  return client.send;
}

const expectPassing = (answer: Answer) =>
  expect({ status: answer.status, retryAfter: answer.headers.get("Retry-After") }).toEqual({
    status: 503,
    retryAfter: "5",
  });

const WITHOUT_DATABASE = ["GET /roles"];

/** These first schedule the deletion of a file, which the cron then carries out even if the request fails. */
const REMEMBERED = [
  "DELETE /organizations/:organization_id/egresses/:egress_id",
  "DELETE /organization_users/:organization_user_id/calls/:call_id/egresses/:id",
];

describe.each(routes)("While D1 fails, $route of the $api API", ({ route, prepare }) => {
  it.each([1, 2])(
    "returns 503 from round trip %i on, changes nothing, and succeeds afterwards",
    async (from) => {
      const { clinic, database, send } = await prepare();
      const before = await rowsOf(clinic.id);
      let hasFailed = false;
      const answer = await database.during((trip, run) => {
        if (trip < from) return run();
        hasFailed = true;
        return Promise.reject(lost());
      }, send);
      if (!hasFailed) return expect(WITHOUT_DATABASE.includes(route) || from > 1).toBe(true);
      expectPassing(answer);
      // It is recorded by its first round trip, and its lease ends by itself within a minute.
      if (route === "GET /participants/export" && from > 1) return;
      if (!REMEMBERED.includes(route)) expect(await rowsOf(clinic.id)).toEqual(before);
      await given(send());
    },
  );
});

/** Requests that can be repeated with the same effect. A renamed room has a new slug, so its old path finds nothing. */
const repeatable = routes.filter(
  ({ route }) => /^(PUT|DELETE)|^POST .webhook$/.test(route) && route !== "PUT /waiting_rooms/:slug",
);

/**
 * Everything that an organization has, without the times of changes, the counts of changes and the entries of reads and searches in the
 * access log: a repeated request has its own.
 */
const contentOf = async (organization: Organization) => {
  const tables = await rowsOf(organization.id);
  const changes = tables.map(({ name, rows }) => ({
    name,
    rows: rows.filter(({ event }) => name !== "access_logs" || !/read|search/.test(String(event))),
  }));
  return JSON.parse(
    JSON.stringify(changes, (key, value) =>
      ["updated_at", "writes", "access_log_entries", "reserved"].includes(key) ? 0 : value,
    ),
  );
};

describe.each(repeatable)("When D1's answer is lost, $route of the $api API", ({ route, prepare }) => {
  it("returns 503, and the repeated request changes nothing more", async () => {
    const { clinic, database, send } = await prepare();
    const answer = await database.during(async (trip, run) => {
      const result = await run();
      if (trip > 1) throw lost();
      return result;
    }, send);
    if (answer.status !== 503) return expect(answer.status).toBeLessThan(300);
    expectPassing(answer);
    const after = await contentOf(clinic);
    const again = await send();
    expect(again.status).toBeOneOf(route.startsWith("DELETE") ? [200, 204, 404] : [200]);
    expect(await contentOf(clinic)).toEqual(after);
  });
});
