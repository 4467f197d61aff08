import { describe, expect, it } from "vitest";
import { platform } from "../support/api.ts";
import { countingRoundTrips } from "../support/database.ts";
import { aLiveKitServer } from "../support/livekit.ts";
import { observedDatabase } from "../support/observed_database.ts";
import { anOrganization, given } from "../support/organization.ts";
import { externalExamples, FROM_THE_NEAREST, liveKitExamples, platformExamples } from "../support/routes.ts";
import { throughWorkerWith } from "../support/worker.ts";

/** Writes whose decision needs no stored data. */
const ONE_STATEMENT = [
  "POST /waiting_rooms",
  "POST /organizations",
  "DELETE /organizations/:organization_id/issuers/:id",
  "POST /webhook_endpoints/:id/ping",
];

/** The round trips to D1 that a request of a known client may cost. */
const allowed = (route: string) => (route.startsWith("GET ") || ONE_STATEMENT.includes(route) ? 1 : 2);

it.each(Object.entries(externalExamples))(
  "A request of a known client costs few round trips to D1, all to the primary or all to the nearest replica: %s",
  async (route, example) => {
    const organization = await anOrganization();
    const { path, body } = await example(organization);
    const [method = ""] = route.split(" ");
    const starts: string[] = [];
    const DB = observedDatabase({
      query(run, start) {
        starts.push(start);
        return run();
      },
    });
    const client = organization.client.through(throughWorkerWith({ DB }));
    await given(client.get("/waiting_rooms"));
    starts.length = 0;
    await given(client.send(method, path, body));
    expect(starts.length).toBeLessThanOrEqual(allowed(route));
    const where = FROM_THE_NEAREST.includes(route) ? "first-unconstrained" : "first-primary";
    expect(starts).toEqual(starts.map(() => where));
  },
);

describe("A request of the platform costs few round trips to D1", () => {
  it.each(Object.entries(platformExamples))("%s", async (route, example) => {
    const { path, body } = await example(await anOrganization());
    const [method = ""] = route.split(" ");
    const counting = countingRoundTrips();
    const trips = await counting.during(() =>
      given(platform.through(counting.fetcher).send(method, path, body)),
    );
    expect(trips).toBeGreaterThan(0);
    expect(trips).toBeLessThanOrEqual(allowed(route));
  });
});

it.each(Object.entries(liveKitExamples))(
  "A LiveKit event costs few round trips to D1: %s",
  async (route, example) => {
    const { body } = await example(await anOrganization());
    const counting = countingRoundTrips();
    const server = aLiveKitServer({ fetcher: counting.fetcher });
    const trips = await counting.during(() => given(server.send(JSON.stringify(body))));
    expect(trips).toBeGreaterThan(0);
    expect(trips).toBeLessThanOrEqual(allowed(route));
  },
);
