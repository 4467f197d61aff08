import createClient from "openapi-fetch";
import { beforeAll, expect, it } from "vitest";
import type { paths } from "../../dist/client/external.d.ts";
import { DEMO_CLIENT } from "../../src/dev/demo_organization.ts";
import { type Server, startServer } from "./support/server.ts";

let server: Server;

beforeAll(async () => {
  server = await startServer();
});

it("A client that is typed by the OpenAPI document makes a room and reads a call's transcript", async () => {
  const client = createClient<paths>({
    baseUrl: `${server.url}/api/external`,
    headers: { "X-Client-ID": DEMO_CLIENT.client_id, "X-Client-Secret": DEMO_CLIENT.client_secret },
  });

  const created = await client.POST("/waiting_rooms", {
    body: { waiting_room: { name: "Oncology", is_active: true } },
  });
  expect(created.data?.slug).toBe("demo-clinic--oncology");
  // @ts-expect-error: a room without a name does not compile, and is refused
  const nameless = await client.POST("/waiting_rooms", { body: { waiting_room: { is_active: true } } });
  expect(nameless.response.status).toBe(422);
  expect(nameless.error?.error).toContain("waiting_room.name");

  const users = await client.GET("/organization_users", { params: { query: { per_page: 100 } } });
  const provider = users.data?.organization_users.find(({ roles }) => roles.includes("provider"));
  const organization_user_id = provider?.id ?? 0;
  const calls = await client.GET("/organization_users/{organization_user_id}/calls", {
    params: { path: { organization_user_id } },
  });
  const call_id = calls.data?.calls[0]?.id ?? 0;
  const transcript = await client.GET(
    "/organization_users/{organization_user_id}/calls/{call_id}/transcript",
    { params: { path: { organization_user_id, call_id } } },
  );
  expect(transcript.data?.transcript_lines.map(({ display_name, text }) => [display_name, text])).toEqual([
    ["Pascal Provider", "Good morning, how are you?"],
    ["Remy Recipient", "Better, thank you."],
  ]);
});
