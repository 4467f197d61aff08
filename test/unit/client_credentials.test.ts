import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { createClient } from "../../dist/client/external/index.js";
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

/** What a function throws, or the promise that it returns. */
async function thrownBy(action: () => unknown): Promise<Error> {
  try {
    await action();
  } catch (error) {
    return error as Error;
  }
  throw new Error("Nothing was thrown");
}

function expectNamed(error: Error, option: string) {
  expect(error).toBeInstanceOf(TypeError);
  expect(error.message).toBe(
    `${option}: must be printable ASCII characters, without a space or line break at its ends`,
  );
  expect(inspect(error)).not.toContain("3cr3t");
}

describe.each(UNSENDABLE)("What no header can carry (%j)", (value) => {
  it.each(["clientId", "clientSecret"])("is refused as the %s when the client is made", (option) => {
    expect(() => createClient({ ...SETTINGS, [option]: value })).toThrow(TypeError);
    return thrownBy(() => createClient({ ...SETTINGS, [option]: value })).then((error) =>
      expectNamed(error, option),
    );
  });

  it("is refused as the acting user, and the purpose, before anything is sent", () => {
    const { client } = aClient();
    expect(() => client.withActingUser(value, "TREAT")).toThrow("id of withActingUser: must be printable");
    expect(() => client.withActingUser("user-17", value as "TREAT")).toThrow(
      "purpose of withActingUser: must be printable",
    );
  });

  it("is refused as the idempotency key and as the bookmark, and nothing is sent", async () => {
    const { client, sent } = aClient();
    const room = { waiting_room: { name: "Cardiology" } };
    expectNamed(
      await thrownBy(() => client.createWaitingRoom(room, { idempotencyKey: value })),
      "idempotencyKey",
    );
    expectNamed(await thrownBy(() => client.listRoles(undefined, { bookmark: value })), "bookmark");
    expect(sent).toEqual([]);
  });
});

it("What is no text is refused where a header is to carry it", async () => {
  const { client, sent } = aClient();
  const room = { waiting_room: { name: "Cardiology" } };
  for (const value of [17, null, {}, ""]) {
    const id = value as string;
    expect(() => client.withActingUser(id, "TREAT")).toThrow(TypeError);
    await expect(client.createWaitingRoom(room, { idempotencyKey: id })).rejects.toThrow(TypeError);
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
