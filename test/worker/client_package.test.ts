import { exports } from "cloudflare:workers";
import { expect, it } from "vitest";
import { createClient, paginate } from "../../dist/client/external/index.js";
import { all } from "../support/all.ts";
import { anOrganization } from "./support/organization.ts";
import { fromNow, travelTo } from "./support/time.ts";

const DAY = 24 * 60;

/** The client package of an organization that has expired invites. */
async function withExpiredInvites(count: number) {
  const clinic = await anOrganization();
  for (let n = 0; n < count; n++) await clinic.addInvite();
  travelTo(fromNow(8 * DAY));
  const { credentials } = clinic.client;
  const visits = createClient({
    baseUrl: "https://service.test",
    clientId: credentials["X-Client-ID"],
    clientSecret: credentials["X-Client-Secret"],
    fetch: (url, init) => exports.default.fetch(new Request(url as string, init as RequestInit)),
  });
  /** In small pages. */
  const expired = () => paginate(visits.listInvites, { status: "expired", per_page: 2 });
  return { visits, expired };
}

it("The client package deletes all expired invites, if it collects them first", async () => {
  const { visits, expired } = await withExpiredInvites(5);
  const collected: number[] = [];
  for await (const { id } of expired()) collected.push(id);
  for (const id of collected) await visits.deleteInvite({ id });
  expect(collected).toHaveLength(5);
  expect(await all(expired())).toEqual([]);
});
