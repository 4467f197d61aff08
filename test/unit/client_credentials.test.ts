import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { type Client, createClient } from "../../dist/client/external/index.js";
import { aClient } from "../support/a_client.ts";

const SETTINGS = { baseUrl: "https://visits.test", clientId: "id", clientSecret: "secret" };

/** What no header can carry as it is: fetch would throw it back, or change it. */
const UNSENDABLE = [
  "s3\ncr3t",
  "s3cr3t\n",
  "s3cr3t\r\nX-Other: 1",
  " s3cr3t",
  "s3cr3t\0",
  "zoë-s3cr3t",
  "s3cr3t-ł",
];

const ROOM = { waiting_room: { name: "Cardiology" } };

/** What puts a value into a header, by the name of the option. */
const OPTIONS: Record<string, (value: string, client: Client) => unknown> = {
  clientId: (clientId) => createClient({ ...SETTINGS, clientId }),
  clientSecret: (clientSecret) => createClient({ ...SETTINGS, clientSecret }),
  "id of withActingUser": (id, client) => client.withActingUser(id, "TREAT"),
  "purpose of withActingUser": (purpose, client) => client.withActingUser("user-17", purpose as "TREAT"),
  idempotencyKey: (idempotencyKey, client) => client.createWaitingRoom(ROOM, { idempotencyKey }),
  bookmark: (bookmark, client) => client.listRoles(undefined, { bookmark }),
};

describe.each(Object.entries(OPTIONS))("What no header can carry is refused as the %s", (option, give) => {
  it.each(UNSENDABLE)("before anything is sent, and is not shown: %j", async (value) => {
    const { client, sent } = aClient();
    const error = await (async () => give(value, client))().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TypeError);
    expect((error as Error).message).toBe(
      `${option}: must be printable ASCII characters, without a space or line break at its ends`,
    );
    expect(inspect(error)).not.toContain("3cr3t");
    expect(sent).toEqual([]);
  });
});

it("What is no text is refused where a header is to carry it", async () => {
  const { client, sent } = aClient();
  for (const value of [17, null, {}, ""]) {
    const id = value as string;
    expect(() => client.withActingUser(id, "TREAT")).toThrow(TypeError);
    await expect(client.createWaitingRoom(ROOM, { idempotencyKey: id })).rejects.toThrow(TypeError);
  }
  expect(sent).toEqual([]);
});

it("Another form of the response is refused, if the operation does not have it", async () => {
  const { client, sent } = aClient();
  const asked = client.listAccessLogs({}, { accept: "text/csv" as "application/x-ndjson" });
  await expect(asked).rejects.toThrow(
    new TypeError("accept: must be one of application/json, application/x-ndjson"),
  );
  expect(sent).toEqual([]);
});
