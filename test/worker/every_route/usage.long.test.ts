import { expect, it } from "vitest";
import { app } from "../../../src/app.ts";
import { anOrganization, given } from "../support/organization.ts";
import { externalExamples } from "../support/routes.ts";

const STORES_NOTHING = "POST /webhook_endpoints/:id/ping";

const isOutsideQuotas = (route: string) =>
  app.routes.some(
    ({ method, path, handler }) =>
      `${method} ${path}` === route.replace(" ", " /api/external") && "isOutsideQuotas" in handler,
  );

it.each(Object.entries(externalExamples))(
  "The writes of the day count %s once if it writes",
  async (route, example) => {
    const organization = await anOrganization();
    const { path, body } = await example(organization);
    const writes = async () => (await given(organization.platform.get("/usage"))).usage[0]?.writes ?? 0;
    const before = await writes();
    const [method = ""] = route.split(" ");
    const { status } = await organization.client.send(method, path, body);
    expect(status).toBeLessThan(300);
    const isCounted = ["POST", "PUT"].includes(method) && route !== STORES_NOTHING && !isOutsideQuotas(route);
    expect((await writes()) - before).toBe(isCounted ? 1 : 0);
  },
);
