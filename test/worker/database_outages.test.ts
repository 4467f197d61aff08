import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it } from "vitest";
import { type Answer, type Fetcher, platform } from "./support/api.ts";
import { rowsOf } from "./support/database.ts";
import { directory } from "./support/deployed.ts";
import { aLiveKitServer } from "./support/livekit.ts";
import { observedDatabase } from "./support/observed_database.ts";
import { anOrganization, given, type Organization } from "./support/organization.ts";
import { externalExamples, liveKitExamples, platformExamples } from "./support/routes.ts";
import { throughWorkerWith } from "./support/worker.ts";

/** An organization that was made half counts in the list of all, of which other tests read a page. */
afterEach(async () => {
  const made = await env.DB.prepare("select json_group_array(id) as ids from organizations").first("ids");
  await directory
    .prepare("delete from places where id not in (select value from json_each(?))")
    .bind(made)
    .run();
});

const lost = () => new Error("D1_ERROR: Network connection lost.");

/** A way to the Worker, over a database that can be made to fail. */
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

/** Every route of the three APIs, with a request that succeeds, by a client that the isolate knows. */
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

/** Answered without the database. */
const WITHOUT_DATABASE = ["GET /roles"];

/** It is noted first that a file is to be deleted: then the cron deletes it, whatever becomes of the request. */
const REMEMBERED = [
  "DELETE /organizations/:organization_id/egresses/:egress_id",
  "DELETE /organization_users/:organization_user_id/calls/:call_id/egresses/:id",
];

describe.each(routes)("While D1 fails, $route of the $api API", ({ route, prepare }) => {
  it.each([1, 2])(
    "from round trip %i on, is 503 and changes nothing, and is right afterwards",
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
      if (!REMEMBERED.includes(route)) expect(await rowsOf(clinic.id)).toEqual(before);
      await given(send());
    },
  );
});

/** Sent again with the same effect. A renamed room has another slug, so that it is not found by the first. */
const repeatable = routes.filter(
  ({ route }) => /^(PUT|DELETE)|^POST .webhook$/.test(route) && route !== "PUT /waiting_rooms/:slug",
);

/**
 * All that an organization has, but for the times of the last changes and their number: one that is made again has its own. So
 * has what its response shows, in the access log.
 */
const contentOf = async (organization: Organization) => {
  const tables = await rowsOf(organization.id);
  const changes = tables.map(({ name, rows }) => ({
    name,
    rows: rows.filter(({ event }) => name !== "access_logs" || event !== "read"),
  }));
  return JSON.parse(
    JSON.stringify(changes, (key, value) =>
      ["updated_at", "writes", "access_log_entries"].includes(key) ? 0 : value,
    ),
  );
};

describe.each(repeatable)("Where D1's answer is lost, $route of the $api API", ({ route, prepare }) => {
  it("is 503, and sent again it changes nothing more", async () => {
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
    expect(again.status).toBeOneOf(route.startsWith("DELETE") ? [204, 404] : [200]);
    expect(await contentOf(clinic)).toEqual(after);
  });
});
