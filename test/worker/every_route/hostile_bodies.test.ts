import { describe, expect, it } from "vitest";
import { platform } from "../support/api.ts";
import { expectRefusal } from "../support/expectations.ts";
import { anOrganization } from "../support/organization.ts";
import { changingNothing } from "../support/unchanged.ts";

it("A text in a request body is refused for its length before its content", async () => {
  const { client } = await anOrganization();
  const refused = await client.post("/waiting_rooms", { waiting_room: { name: "\0".repeat(300) } });
  expectRefusal(refused, 422, "waiting_room.name: must be at most 255 characters long");
});

describe("A request body", () => {
  /** Creates an organization with a field that no schema knows. */
  const organizationWith = (unknown: string) =>
    platform.send("POST", "/organizations", `{"organization":{"name":"Clinic"},"unknown":${unknown}}`);

  it.each([
    ["in a list", (length: number) => `[${Array(length).fill("{}").join()}]`],
    ["inside each other", (length: number) => `[${"[".repeat(length)}${"]".repeat(length)}]`],
  ])("may have at most 20,000 objects and lists: %s", async (_, unknown) => {
    expect((await organizationWith(unknown(19_997))).status).toBe(201);
    const refused = await changingNothing(() => organizationWith(unknown(19_998)));
    expectRefusal(refused, 422, "body: must hold at most 20,000 objects and lists");
  });

  it("may have any number of brackets in its texts", async () => {
    const text = JSON.stringify('["\\{'.repeat(100_000));
    expect((await organizationWith(text)).status).toBe(201);
  });

  it.each([
    ["__proto__ as a key of a wrapper", '{"waiting_room":{"__proto__":{"name":"Cardiology"}}}'],
    ["__proto__ as the wrapper", '{"__proto__":{"waiting_room":{"name":"Cardiology"}}}'],
    ["a key twice, since the last one counts", '{"waiting_room":{"name":"Cardiology","name":null}}'],
  ])("is refused with %s", async (_, body) => {
    const { client } = await anOrganization();
    expectRefusal(await changingNothing(() => client.send("POST", "/waiting_rooms", body)), 422, /name|room/);
  });

  it.each(["1e999", "-1e999", "9".repeat(400), "9007199254740993", "-0", "1.5"])(
    "is refused with an id that is not a positive, exact integer: %s",
    async (id) => {
      const clinic = await anOrganization();
      const room = await clinic.addRoom();
      const body = `{"waiting_room_sub":{"user_id":${id},"datetime_start":"2126-01-31T09:30:00Z"}}`;
      const path = `/waiting_rooms/${room.slug}/waiting_room_subs`;
      expectRefusal(await clinic.client.send("POST", path, body), 422, /^waiting_room_sub\.user_id: /);
    },
  );
});
