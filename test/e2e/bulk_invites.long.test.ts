import { expect, it } from "vitest";
import { caller } from "./support/callers.ts";
import { eventually } from "./support/eventually.ts";
import { anOrganization } from "./support/organization.ts";
import { type Server, startServer } from "./support/server.ts";

const SIZE = 1000;
const REQUESTS = 2;

/** One organization may not mail this many invites in a day. */
const ORGANIZATIONS = 2;

it("POST /invites/bulk_create creates one invite for each of 4,000 rows, even if the server and its queue die meanwhile", async () => {
  let server: Server = await startServer({ ownData: "bulk" });
  const sent: { id: number; credentials: Record<string, string> }[] = [];
  for (let n = 0; n < ORGANIZATIONS * REQUESTS; n++) {
    const { external, credentials } =
      n % REQUESTS === 0 ? await anOrganization(server.url) : sender(sent.at(-1));
    const organization_invites = Array.from({ length: SIZE }, (_, row) => ({
      email: `ivy-${n}-${row}@hillside.example`,
      display_name: "Ivy Invitee",
      role_names: ["provider"],
    }));
    const { status, body } = await external("POST", "/invites/bulk_create", { organization_invites });
    expect(status).toBe(201);
    sent.push({ id: body.bulk_invite.id, credentials });
  }
  function sender({ credentials = {} }: { credentials?: Record<string, string> } = {}) {
    return { credentials, external: caller(`${server.url}/api/external`, credentials) };
  }
  async function progress() {
    const answers = await Promise.all(
      sent.map((each) => sender(each).external("GET", `/bulk_invites/${each.id}`)),
    );
    return answers.map(({ body }) => body.bulk_invite);
  }

  // The last bulk invites have not been processed yet, unless the machine is fast.
  await server.kill();
  server = await startServer({ ownData: "bulk" });
  await fetch(`${server.url}/cdn-cgi/local/scheduled?cron=*/5+*+*+*+*`);
  await eventually(async () =>
    expect(await progress()).toEqual(
      sent.map(({ id }) =>
        expect.objectContaining({ id, status: "completed", created_count: SIZE, failed_count: 0 }),
      ),
    ),
  );

  for (const each of sent.filter((_, n) => n % REQUESTS === 0)) {
    const { external } = sender(each);
    const { body } = await external("GET", "/invites?per_page=1");
    expect(body.pagination.total_count).toBe(REQUESTS * SIZE);
    const { events } = (await external("GET", "/events?type=bulk_invite.completed")).body;
    const completed = events.map(({ data }: { data: { bulk_invite_id: number } }) => data.bulk_invite_id);
    expect(completed.toSorted()).toEqual(
      sent.filter(({ credentials }) => credentials === each.credentials).map(({ id }) => id),
    );
  }
});
