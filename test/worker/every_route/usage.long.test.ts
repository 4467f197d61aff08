import { expect, it } from "vitest";
import { app } from "../../../src/app.ts";
import { storedRows } from "../support/database.ts";
import { anOrganization } from "../support/organization.ts";
import { externalExamples } from "../support/routes.ts";

const STORES_NOTHING = ["POST /webhook_endpoints/:id/ping", "POST /token_checks"];

const isInReserve = (route: string) =>
  route.startsWith("DELETE") ||
  app.routes.some(
    ({ method, path, handler }) =>
      `${method} ${path}` === route.replace(" ", " /api/external") && "reserve" in handler,
  );

it.each(Object.entries(externalExamples))(
  "The day's quotas count %s once if it writes, and its reserves if they are for it",
  async (route, example) => {
    const organization = await anOrganization();
    const { path, body } = await example(organization);
    const counted = async () => {
      const days = await storedRows(organization, "organization_days");
      const sum = (...columns: string[]) =>
        days
          .filter(({ api_client_id }) => api_client_id === 0)
          .flatMap((day) => columns.map((column) => Number(day[column])))
          .reduce((total, each) => total + each, 0);
      return {
        writes: sum("writes"),
        reserved: sum("sign_ins", "reserved"),
        entries: sum("access_log_entries"),
      };
    };
    const before = await counted();
    const [method = ""] = route.split(" ");
    const { status } = await organization.client.send(method, path, body);
    expect(status).toBeLessThan(300);
    const after = await counted();
    const writes = ["POST", "PUT"].includes(method) && !STORES_NOTHING.includes(route) && !isInReserve(route);
    expect(after.writes - before.writes).toBe(writes ? 1 : 0);
    expect(after.reserved - before.reserved > 0).toBe(isInReserve(route));
    if (isInReserve(route)) expect(after.entries).toBe(before.entries);
  },
);
