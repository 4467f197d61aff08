/** Sources that send requests with each client of the external API. Some of the requests are wrong. */
export const REQUESTS = {
  "openapi-typescript": `
    import createClient from "openapi-fetch";
    import type { paths } from "./dist/client/external.d.ts";

    const client = createClient<paths, "application/json">({ baseUrl: "http://localhost/api/external" });

    export async function requests(): Promise<string | undefined> {
      const waiting_room = { name: "Oncology", is_active: true };
      await client.POST("/waiting_rooms", { body: { waiting_room }, params: { header: { "Idempotency-Key": "1" } } });
      const { data, error } = await client.GET("/waiting_rooms/{slug}", { params: { path: { slug: "oncology" } } });
      // @ts-expect-error: no such path
      await client.GET("/rooms");
      // @ts-expect-error: a room without a name
      await client.POST("/waiting_rooms", { body: { waiting_room: { is_active: true } } });
      // @ts-expect-error: a name that is a number
      await client.POST("/waiting_rooms", { body: { waiting_room: { name: 1 } } });
      // @ts-expect-error: a room without its slug
      await client.GET("/waiting_rooms/{slug}", { params: { path: {} } });
      // @ts-expect-error: a page that is a text
      await client.GET("/waiting_rooms", { params: { query: { page: "1" } } });
      // @ts-expect-error: a header that is a number
      await client.POST("/waiting_rooms", { body: { waiting_room }, params: { header: { "Idempotency-Key": 1 } } });
      // @ts-expect-error: a field that no room has
      data?.title;
      return data?.slug ?? error?.error;
    }`,
  "hey-api": `
    import { createWaitingRoom, getWaitingRoom, listWaitingRooms } from "./dist/client/external/index.ts";
    import * as sdk from "./dist/client/external/index.ts";

    export async function requests(): Promise<string | undefined> {
      const waiting_room = { name: "Oncology", is_active: true };
      await createWaitingRoom({ body: { waiting_room }, headers: { "Idempotency-Key": "1" } });
      const { data, error } = await getWaitingRoom({ path: { slug: "oncology" } });
      // @ts-expect-error: no such operation
      await sdk.listRooms();
      // @ts-expect-error: a room without a name
      await createWaitingRoom({ body: { waiting_room: { is_active: true } } });
      // @ts-expect-error: a name that is a number
      await createWaitingRoom({ body: { waiting_room: { name: 1 } } });
      // @ts-expect-error: a room without its slug
      await getWaitingRoom({ path: {} });
      // @ts-expect-error: a page that is a text
      await listWaitingRooms({ query: { page: "1" } });
      // @ts-expect-error: a header that is a number
      await createWaitingRoom({ body: { waiting_room }, headers: { "Idempotency-Key": 1 } });
      // @ts-expect-error: a field that no room has
      data?.title;
      return data?.slug ?? error?.error;
    }`,
};
