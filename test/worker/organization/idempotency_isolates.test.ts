import { beforeAll, expect, it, vi } from "vitest";
import { anOrganization, unique } from "../support/organization.ts";
import { externalExamples } from "../support/routes.ts";

/** The Worker in its own isolate: its modules are loaded again, so it remembers nothing. */
async function anIsolate() {
  vi.resetModules();
  // See setup.ts.
  const { kebabCase } = await import("../../../src/database/slug.ts");
  await kebabCase("The first", "slug");
  const { countingRoundTrips } = await import("../support/database.ts");
  return countingRoundTrips();
}

type Isolate = Awaited<ReturnType<typeof anIsolate>>;

let isolates: [Isolate, Isolate, Isolate];
beforeAll(async () => {
  isolates = [await anIsolate(), await anIsolate(), await anIsolate()];
});

it.each([
  "POST /waiting_rooms",
  "POST /waiting_rooms/:waiting_room_slug/waiting_room_subs",
  "POST /invites",
  "POST /invites/bulk_create",
])("%s with an Idempotency-Key is carried out once by several isolates", async (route) => {
  const organization = await anOrganization();
  const { path, body } = (await externalExamples[route]?.(organization)) ?? { path: "" };
  const headers = { "Idempotency-Key": unique("key") };
  const postTo = ({ fetcher }: Isolate) =>
    organization.client.through(fetcher).send("POST", path, body, headers);
  const [one, another, later] = isolates;
  const answers = await Promise.all([one, another, one, another].map(postTo));
  // A replay takes at most two round trips. The third is for the client, which this isolate does not know yet.
  expect(await later.during(async () => answers.push(await postTo(later)))).toBeLessThanOrEqual(3);
  expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(201));
  expect(answers.filter(({ headers }) => headers.get("Idempotent-Replayed") === "true")).toHaveLength(4);
  expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
});
