import { describe, expect, it } from "vitest";
import { platform } from "./support/api.ts";
import { expectRefusal } from "./support/expectations.ts";
import { anInvite, anOrganization, given, type Organization, unique } from "./support/organization.ts";
import { changingNothing } from "./support/unchanged.ts";

const aUser = (more: object) => ({
  user: { email: `${unique("user")}@example.com`, display_name: "Paula", roles: ["provider"], ...more },
});

describe("A list in a request", () => {
  it.each([
    [
      "role_names of an invite",
      10,
      /role_names: must name at most 10 roles/,
      ({ client }: Organization, length: number) =>
        client.post("/invites", {
          organization_invite: anInvite({ role_names: Array(length).fill("provider") }),
        }),
    ],
    [
      "role_names of a bulk invite",
      10,
      /organization_invites\.1\.role_names: must name at most 10 roles/,
      ({ client }: Organization, length: number) =>
        client.post("/invites/bulk_create", {
          organization_invites: [anInvite(), anInvite({ role_names: Array(length).fill("provider") })],
        }),
    ],
    [
      "roles of a user",
      10,
      /user\.roles: must name at most 10 roles/,
      ({ id }: Organization, length: number) =>
        platform.post(`/organizations/${id}/users`, aUser({ roles: Array(length).fill("provider") })),
    ],
    [
      "assists of a user",
      1000,
      /user\.assists: must name at most 1000 providers/,
      async ({ id, addProvider }: Organization, length: number) =>
        platform.post(
          `/organizations/${id}/users`,
          aUser({ roles: ["provider_assistant"], assists: Array(length).fill((await addProvider()).id) }),
        ),
    ],
  ])("has a maximum: %s, %i", async (_, maximum, error, send) => {
    const clinic = await anOrganization();
    await given(send(clinic, maximum));
    expectRefusal(await send(clinic, maximum + 1), 422, error);
  });

  it("that is too long is refused for its length, not for each of its elements", async () => {
    const { client } = await anOrganization();
    const organization_invites = [anInvite({ role_names: Array(400_000).fill(0) })];
    const refused = await changingNothing(() =>
      client.post("/invites/bulk_create", { organization_invites }),
    );
    expectRefusal(refused, 422, "organization_invites.0.role_names: must name at most 10 roles");
  });

  it("of very many wrong lines is refused for the first of them", async () => {
    const { platform } = await anOrganization();
    const transcript = { lines: Array(50_000).fill({}) };
    const refused = await changingNothing(() => platform.put("/calls/call/transcript", { transcript }));
    expectRefusal(refused, 422, "transcript.lines.0.participant_key: is required");
  });
});

describe("A text in a request", () => {
  const x = (length: number) => "x".repeat(length);

  it.each([
    ["code", 256 * 1024, 401, "/authorization_codes/redeem", (text: string) => ({ code: text })],
    ["token", 256 * 1024, 404, "/invites/accept", (text: string) => ({ token: text })],
  ])("has a maximum: a %s of %i characters", async (field, maximum, status, path, body) => {
    expectRefusal(await platform.post(path, body(x(maximum))), status);
    const error = `${field}: must be at most ${maximum} characters long`;
    expectRefusal(await platform.post(path, body(x(maximum + 1))), 422, error);
  });

  it("has a maximum: the slug of a room", async () => {
    const clinic = await anOrganization();
    const call = { waiting_room_slug: x(4001) };
    expectRefusal(
      await clinic.platform.put("/calls/call", { call }),
      422,
      /call\.waiting_room_slug: must be at most 4000 characters long/,
    );
    expectRefusal(await platform.get(`/waiting_rooms/${x(4001)}`), 404, "Not found");
  });

  it("has a maximum: a timestamp", async () => {
    const { client, addRoom, addProvider } = await anOrganization();
    const [room, { user_id }] = [await addRoom(), await addProvider()];
    const send = (digits: number) =>
      client.post(`/waiting_rooms/${room.slug}/waiting_room_subs`, {
        waiting_room_sub: { user_id, datetime_start: `2126-01-31T09:30:00.${"0".repeat(digits)}Z` },
      });
    await given(send(64 - 21));
    expectRefusal(await send(64 - 20), 422, /^waiting_room_sub\.datetime_start: [^;]+$/);
  });

  it("has a maximum: an integer in a query", async () => {
    const { client } = await anOrganization();
    const digits = (length: number) => "9".repeat(length);
    expect((await client.get(`/waiting_rooms?per_page=${digits(1000)}`)).body.pagination.per_page).toBe(100);
    expectRefusal(await client.get(`/waiting_rooms?per_page=${digits(1001)}`), 400, /^per_page: /);
  });

  it("that is too long is refused for its length, not for its content", async () => {
    const { client } = await anOrganization();
    const refused = await client.post("/waiting_rooms", { waiting_room: { name: "\0".repeat(300) } });
    expectRefusal(refused, 422, "waiting_room.name: must be at most 255 characters long");
  });
});

describe("A body", () => {
  /** A new organization, with something that no schema knows. */
  const organizationWith = (unknown: string) =>
    platform.send("POST", "/organizations", `{"organization":{"name":"Clinic"},"unknown":${unknown}}`);

  it.each([
    ["in a list", (length: number) => `[${Array(length).fill("{}").join()}]`],
    ["in each other", (length: number) => `[${"[".repeat(length)}${"]".repeat(length)}]`],
  ])("has at most 100,000 objects and lists: %s", async (_, unknown) => {
    expect((await organizationWith(unknown(99_997))).status).toBe(201);
    const refused = await changingNothing(() => organizationWith(unknown(99_998)));
    expectRefusal(refused, 422, "body: must hold at most 100000 objects and lists");
  });

  it("may have any number of brackets in its texts", async () => {
    const text = JSON.stringify('["\\{'.repeat(200_000));
    expect((await organizationWith(text)).status).toBe(201);
  });

  it.each([
    ["__proto__ as a key of a wrapper", '{"waiting_room":{"__proto__":{"name":"Cardiology"}}}'],
    ["__proto__ as the wrapper", '{"__proto__":{"waiting_room":{"name":"Cardiology"}}}'],
    ["a key twice, of which the last counts", '{"waiting_room":{"name":"Cardiology","name":null}}'],
    ["a null character", '{"waiting_room":{"name":"Cardio\\u0000logy"}}'],
    ["half of a surrogate pair", '{"waiting_room":{"name":"Cardiology \\ud83d"}}'],
  ])("is refused with %s", async (_, body) => {
    const { client } = await anOrganization();
    expectRefusal(await changingNothing(() => client.send("POST", "/waiting_rooms", body)), 422, /name|room/);
  });

  it.each(["1e999", "-1e999", "9".repeat(400), "9007199254740993", "-0", "1.5"])(
    "is refused with an id that is no positive exact integer: %s",
    async (id) => {
      const clinic = await anOrganization();
      const room = await clinic.addRoom();
      const body = `{"waiting_room_sub":{"user_id":${id},"datetime_start":"2126-01-31T09:30:00Z"}}`;
      const path = `/waiting_rooms/${room.slug}/waiting_room_subs`;
      expectRefusal(await clinic.client.send("POST", path, body), 422, /^waiting_room_sub\.user_id: /);
    },
  );
});
