import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { type Client, createClient } from "../../../dist/client/external/index.js";
import { aClient } from "../../support/a_client.ts";

const SETTINGS = { baseUrl: "https://visits.test", clientId: "id", clientSecret: "secret" };

/** Values that fetch would refuse or change in a header. */
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

/** By the name of an option: passes a value to the option, which the client sends in a header. */
const OPTIONS: Record<string, (value: string, client: Client) => unknown> = {
  clientId: (clientId) => createClient({ ...SETTINGS, clientId }),
  clientSecret: (clientSecret) => createClient({ ...SETTINGS, clientSecret }),
  "id of withActingUser": (id, client) => client.withActingUser(id, "TREAT"),
  "purpose of withActingUser": (purpose, client) => client.withActingUser("user-17", purpose as "TREAT"),
  idempotencyKey: (idempotencyKey, client) => client.createWaitingRoom(ROOM, { idempotencyKey }),
  bookmark: (bookmark, client) => client.listRoles(undefined, { bookmark }),
};

describe.each(Object.entries(OPTIONS))("A value for the %s that no header can carry", (option, give) => {
  it.each(UNSENDABLE)("is refused before anything is sent, and is not shown: %j", async (value) => {
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

it("The client refuses header values that are not text", async () => {
  const { client, sent } = aClient();
  for (const value of [17, null, {}, ""]) {
    const id = value as string;
    expect(() => client.withActingUser(id, "TREAT")).toThrow(TypeError);
    await expect(client.createWaitingRoom(ROOM, { idempotencyKey: id })).rejects.toThrow(TypeError);
  }
  expect(sent).toEqual([]);
});

it("The client refuses a response format that the operation does not have", async () => {
  const { client, sent } = aClient();
  const asked = client.listAccessLogs({}, { accept: "text/csv" as "application/x-ndjson" });
  await expect(asked).rejects.toThrow(
    new TypeError("accept: must be one of application/json, application/x-ndjson"),
  );
  expect(sent).toEqual([]);
});
