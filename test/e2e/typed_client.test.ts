import { expect, inject, it } from "vitest";
import { createClient, paginate } from "../../dist/client/external/index.js";
import { all } from "../support/all.ts";
import { anOrganization } from "./support/organization.ts";

const server = inject("sharedServer");

it("The client package makes a room once, however often it is asked with one key, and lists it", async () => {
  const { organization, credentials } = await anOrganization(server.url);
  const visits = createClient({
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
