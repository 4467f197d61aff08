import { describe, expect, it } from "vitest";
import { platform } from "./support/door.ts";
import { observedDatabase, PRIMARY } from "./support/observed_database.ts";
import { anOrganization, given, unique } from "./support/organization.ts";
import { externalExamples } from "./support/routes.ts";
import { throughWorkerWith } from "./support/worker.ts";

const A_BOOKMARK = "00000085-0000024c-00004c6d-8e61117bf38d7adb71b934ebbf891683";

const FROM_THE_NEAREST = [
  "GET /call_metrics",
  "GET /organization_users/:organization_user_id/calls/:call_id/transcript",
  "GET /organization_users/:organization_user_id/calls/:call_id/soap_note",
];

/** A way to the Worker that records with what the sessions of its queries were opened. */
function notingSessions() {
  const starts = new Set<string>();
  const DB = observedDatabase({
    query(run, start) {
      starts.add(start);
      return run();
    },
  });
  return {
    fetcher: throughWorkerWith({ DB }),
    async during(work: () => Promise<unknown>) {
      starts.clear();
      await work();
      return [...starts];
    },
  };
}

/** Where the queries of the route go, for a known client. */
async function whereReads(route: string, headers: Record<string, string> = {}) {
  const organization = await anOrganization();
  const { path, body } = (await externalExamples[route]?.(organization)) ?? { path: "" };
  const [method = ""] = route.split(" ");
  const noted = notingSessions();
  const client = organization.client.through(noted.fetcher);
  await given(client.get("/roles"));
  return noted.during(() => given(client.send(method, path, body, headers)));
}

describe("The results of calls", () => {
  it.each(FROM_THE_NEAREST)("are read from the nearest replica: %s", async (route) => {
    expect(await whereReads(route)).toEqual(["first-unconstrained"]);
  });
});

describe("Everything else", () => {
  const others = Object.keys(externalExamples).filter(
    (route) => !FROM_THE_NEAREST.includes(route) && route !== "GET /roles",
  );

  it.each(others)("is read from the primary: %s", async (route) => {
    expect(await whereReads(route)).toEqual(["first-primary"]);
  });
});

describe("A bookmark", () => {
  it("is in every response that used the database, through both doors", async () => {
    const { client, id } = await anOrganization();
    const bookmark = /^[0-9a-f]{8}(-[0-9a-f]{8}){2}-[0-9a-f]{32}$/;
    const answers = [
      await client.get("/waiting_rooms"),
      await client.get("/call_metrics"),
      await client.get("/waiting_rooms/unknown"),
      await client.post("/waiting_rooms", { waiting_room: { name: "Oncology" } }),
      await platform.get("/waiting_rooms/unknown"),
      await platform.post(`/organizations/${id}/users`, {
        user: { email: `paul@${id}.example.com`, display_name: "Paul", roles: ["provider"] },
      }),
    ];
    for (const { headers } of answers) expect(headers.get("X-D1-Bookmark")).toMatch(bookmark);
  });

  it.each([...FROM_THE_NEAREST, "GET /waiting_rooms", "GET /invites"])(
    "in a request allows any replica that has reached it: %s",
    async (route) => {
      expect(await whereReads(route, { "X-D1-Bookmark": A_BOOKMARK })).toEqual([A_BOOKMARK]);
    },
  );

  it.each(["POST /waiting_rooms", "POST /auth/token_exchange", "DELETE /invites/:id"])(
    "does not keep writes away from the primary: %s",
    async (route) => {
      expect(await whereReads(route, { "X-D1-Bookmark": A_BOOKMARK })).toEqual(["first-primary"]);
    },
  );

  it.each(["garbage", "first-unconstrained", `${A_BOOKMARK}0`, A_BOOKMARK.replace("8e61", "XXXX")])(
    "that is malformed is ignored: %s",
    async (malformed) => {
      expect(await whereReads("GET /waiting_rooms", { "X-D1-Bookmark": malformed })).toEqual([
        "first-primary",
      ]);
      expect(await whereReads("GET /call_metrics", { "X-D1-Bookmark": malformed })).toEqual([
        "first-unconstrained",
      ]);
    },
  );
});

describe("A client", () => {
  it("is looked up on the primary, so that it works at once, and a revoked one is refused however far a replica lags", async () => {
    const { client } = await anOrganization();
    const noted = notingSessions();
    const asking = client.through(noted.fetcher);
    expect(await noted.during(() => given(asking.get("/roles")))).toEqual([PRIMARY]);
    const unknown = { "X-Client-ID": unique("made-up") };
    expect(await noted.during(() => asking.send("GET", "/roles", undefined, unknown))).toEqual([PRIMARY]);
  });
});
