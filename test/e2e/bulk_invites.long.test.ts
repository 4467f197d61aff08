import { expect, it } from "vitest";
import { eventually } from "./support/eventually.ts";
import { anOrganization } from "./support/organization.ts";
import { caller, type Server, startServer } from "./support/server.ts";

const SIZE = 1000;
const REQUESTS = 4;

it("Four thousand rows each become one invite through the real queue, though the server dies in the middle and its messages with it", async () => {
  let server: Server = await startServer({ ownData: "bulk" });
  const { external, credentials } = await anOrganization(server.url);
  const ids: number[] = [];
  for (let request = 0; request < REQUESTS; request++) {
    const organization_invites = Array.from({ length: SIZE }, (_, row) => ({
      email: `ivy-${request}-${row}@hillside.example`,
      display_name: "Ivy Invitee",
      role_names: ["provider"],
    }));
    const { status, body } = await external("POST", "/invites/bulk_create", { organization_invites });
    expect(status).toBe(201);
    ids.push(body.bulk_invite.id);
  }
  async function progress() {
    const external = caller(`${server.url}/api/external`, credentials);
    const answers = await Promise.all(ids.map((id) => external("GET", `/bulk_invites/${id}`)));
    return answers.map(({ body }) => body.bulk_invite);
  }
  const created = async () => (await progress()).reduce((sum, { created_count }) => sum + created_count, 0);

  await eventually(async () => expect(await created()).toBeGreaterThan(0), 20);
  await server.stop();
  server = await startServer({ ownData: "bulk" });
  const before = await created();
  expect(before).toBeGreaterThan(0);
  expect(before).toBeLessThan(REQUESTS * SIZE);
  await fetch(`${server.url}/cdn-cgi/local/scheduled?cron=*/5+*+*+*+*`);
  await eventually(async () =>
    expect(await progress()).toEqual(
      ids.map((id) =>
        expect.objectContaining({ id, status: "completed", created_count: SIZE, failed_count: 0 }),
      ),
    ),
  );

  const again = caller(`${server.url}/api/external`, credentials);
  expect((await again("GET", "/invites?per_page=1")).body.pagination.total_count).toBe(REQUESTS * SIZE);
  const { events } = (await again("GET", "/events?type=bulk_invite.completed")).body;
  expect(events.map(({ data }: { data: { bulk_invite_id: number } }) => data.bulk_invite_id).sort()).toEqual(
    ids.toSorted(),
  );
});
