import createClient from "openapi-fetch";
import { expect, inject, it } from "vitest";
import { client as sdk } from "../../dist/client/external/client.gen.ts";
import { createWaitingRoom, listWaitingRooms } from "../../dist/client/external/index.ts";
import type { paths } from "../../dist/client/external.d.ts";
import { DEMO_CLIENT } from "../../src/dev/demo_organization.ts";
import { anOrganization } from "./support/organization.ts";

const server = inject("sharedServer");

it("A client that is typed by the OpenAPI document makes a room and reads a call's transcript, as JSON and as WebVTT", async () => {
  const { organization, credentials } = await anOrganization(server.url);
  const baseUrl = `${server.url}/api/external`;
  const own = createClient<paths, "application/json">({ baseUrl, headers: credentials });
  const created = await own.POST("/waiting_rooms", {
    body: { waiting_room: { name: "Oncology", is_active: true } },
  });
  expect(created.data?.slug).toBe(`${organization.slug}--oncology`);
  // @ts-expect-error: a room without a name does not compile, and is refused
  const nameless = await own.POST("/waiting_rooms", { body: { waiting_room: { is_active: true } } });
  expect(nameless.response.status).toBe(422);
  expect(nameless.error?.error).toContain("waiting_room.name");

  const demo = createClient<paths, "application/json">({
    baseUrl,
    headers: { "X-Client-ID": DEMO_CLIENT.client_id, "X-Client-Secret": DEMO_CLIENT.client_secret },
  });
  const users = await demo.GET("/organization_users", { params: { query: { per_page: 100 } } });
  const provider = users.data?.organization_users.find(({ roles }) => roles.includes("provider"));
  const organization_user_id = provider?.id ?? 0;
  const calls = await demo.GET("/organization_users/{organization_user_id}/calls", {
    params: { path: { organization_user_id } },
  });
  const call_id = calls.data?.calls[0]?.id ?? 0;
  const transcript = await demo.GET("/organization_users/{organization_user_id}/calls/{call_id}/transcript", {
    params: { path: { organization_user_id, call_id } },
  });
  expect(transcript.data?.transcript_lines.map(({ display_name, text }) => [display_name, text])).toEqual([
    ["Pascal Provider", "Good morning, how are you?"],
    ["Remy Recipient", "Better, thank you."],
  ]);
  const captions = await demo.GET("/organization_users/{organization_user_id}/calls/{call_id}/transcript", {
    params: { path: { organization_user_id, call_id } },
    headers: { Accept: "text/vtt" },
    parseAs: "text",
  });
  expect(captions.data?.startsWith("WEBVTT\n")).toBe(true);
});

it("A client that is generated from the OpenAPI document makes a room once, however often it asks, and lists it", async () => {
  const { organization, credentials } = await anOrganization(server.url);
  sdk.setConfig({
    baseUrl: `${server.url}/api/external`,
    auth: ({ name }) => credentials[name as keyof typeof credentials],
  });
  const request = {
    body: { waiting_room: { name: "Radiology" } },
    headers: { "Idempotency-Key": "a room for radiology" },
  };

  const first = await createWaitingRoom(request);
  expect(first.data?.slug).toBe(`${organization.slug}--radiology`);
  const again = await createWaitingRoom(request);
  expect(again.data?.id).toBe(first.data?.id);
  expect(again.response.headers.get("Idempotent-Replayed")).toBe("true");
  // @ts-expect-error: a room without a name does not compile, and is refused
  const nameless = await createWaitingRoom({ body: { waiting_room: { is_active: true } } });
  expect(nameless.response.status).toBe(422);
  expect(nameless.error?.error).toContain("waiting_room.name");

  const { data } = await listWaitingRooms({ query: { per_page: 100 } });
  expect(data?.waiting_rooms).toEqual([first.data]);
});
