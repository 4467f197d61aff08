import { expect, it } from "vitest";
import { createClient } from "../../dist/client/external/index.js";
import { platformCaller } from "./support/callers.ts";
import { eventually } from "./support/eventually.ts";
import { anOrganization } from "./support/organization.ts";
import { startServer } from "./support/server.ts";

it("followEvents yields each event once and in order while the server restarts, and continues after a stored id", async () => {
  let server = await startServer();
  const { credentials, organization, base } = await anOrganization(server.url);
  const first = server.url;
  let failed = 0;
  const visits = createClient({
    baseUrl: first,
    clientId: credentials["X-Client-ID"],
    clientSecret: credentials["X-Client-Secret"],
    // The server gets another port after its restart.
    fetch: (url, init) =>
      fetch(String(url).replace(first, server.url), init).catch((error) => {
        failed++;
        throw error;
      }),
  });

  /** The ids of users, in the order in which they were added. */
  const added: number[] = [];
  async function addUsers(count: number) {
    const platform = platformCaller(server.url);
    for (let n = 0; n < count; n++) {
      const email = `user-${added.length}@${organization.slug}.example`;
      const user = { email, display_name: `User ${added.length}`, roles: ["provider"] };
      const { status, body } = await platform("POST", `${base}/users`, { user });
      expect(status).toBe(201);
      added.push(body.id);
    }
  }

  const seen: { id: number; user: number | undefined }[] = [];
  const controller = new AbortController();
  const follow = async (after?: number) => {
    const events = visits.followEvents({
      after,
      type: "organization_user.added",
      interval: 50,
      signal: controller.signal,
    });
    for await (const { id, data } of events) {
      seen.push({ id, user: data.organization_user_id });
      // Ends here, and starts again after this id.
      if (seen.length === 104) return;
    }
  };

  await addUsers(103);
  const following = follow();
  await eventually(() => expect(seen.length).toBe(104));
  await following;
  const again = follow(seen.at(-1)?.id);
  await addUsers(2);
  await eventually(() => expect(seen.length).toBe(106));

  await server.stop();
  await eventually(() => expect(failed).toBeGreaterThan(2));
  server = await startServer();
  await addUsers(3);
  await eventually(() => expect(seen.length).toBe(109));

  controller.abort(new Error("enough"));
  await expect(again).rejects.toThrow("enough");
  // The first is the organization's own administrator.
  expect(seen.slice(1).map(({ user }) => user)).toEqual(added);
  expect(seen.map(({ id }) => id)).toEqual([...new Set(seen.map(({ id }) => id))].sort((a, b) => a - b));
});
