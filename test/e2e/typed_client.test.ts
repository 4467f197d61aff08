import createClient from "openapi-fetch";
import { expect, inject, it } from "vitest";
import { createClient as createVisits, paginate } from "../../dist/client/external/index.js";
import type { paths } from "../../dist/client/external.d.ts";
import { DEMO_CLIENT } from "../../src/dev/demo_organization.ts";
import { all } from "../support/all.ts";
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

it("The client package makes a room once, however often it is asked with one key, and lists it", async () => {
  const { organization, credentials } = await anOrganization(server.url);
  const visits = createVisits({
    baseUrl: server.url,
    clientId: credentials["X-Client-ID"],
    clientSecret: credentials["X-Client-Secret"],
  });
  const replayed: (string | null)[] = [];
  const radiology = () =>
    visits.createWaitingRoom(
      { waiting_room: { name: "Radiology" } },
      {
        idempotencyKey: "a room for radiology",
        onResponse: ({ headers }) => replayed.push(headers.get("Idempotent-Replayed")),
      },
    );

  const first = await radiology();
  expect(first.slug).toBe(`${organization.slug}--radiology`);
  expect((await radiology()).id).toBe(first.id);
  expect(replayed).toEqual([null, "true"]);
  // @ts-expect-error: a room without a name does not compile, and is refused
  const nameless = visits.createWaitingRoom({ waiting_room: { is_active: true } });
  await expect(nameless).rejects.toMatchObject({
    status: 422,
    text: expect.stringContaining("waiting_room.name"),
    requestId: expect.stringMatching(/^[\w-]{36}$/),
  });

  expect(await all(paginate(visits.listWaitingRooms, { per_page: 1 }))).toEqual([first]);
  await visits.createWaitingRoom({ waiting_room: { name: "Oncology" } });
  const rooms = await all(paginate(visits.listWaitingRooms, { per_page: 1 }));
  expect(rooms.map(({ name }) => name)).toEqual(["Radiology", "Oncology"]);
});
