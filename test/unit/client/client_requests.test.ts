import { describe, expect, it } from "vitest";
import { type PurposeOfUse, paginate } from "../../../dist/client/external/index.js";
import { PURPOSES_OF_USE } from "../../../src/database/enums.ts";
import { aClient, html, type Sent } from "../../support/a_client.ts";
import { all } from "../../support/all.ts";

const urlsOf = (sent: Sent[]) => sent.map(({ url }) => url.replace("https://visits.test/api/external", ""));

describe("The client", () => {
  it.each([
    "https://visits.test",
    "https://visits.test/",
    "https://visits.test/api/external",
    "https://visits.test/api/external/",
  ])("finds the API at %s", async (baseUrl) => {
    const { client, sent } = aClient([], { baseUrl });
    await client.listRoles();
    expect(sent[0]?.url).toBe("https://visits.test/api/external/roles");
  });

  it("puts its input into the path, the query and the body", async () => {
    const { client, sent } = aClient();
    await client.updateWaitingRoom({ slug: "a/b c?", waiting_room: { name: "Café" } });
    await client.listCalls({ organization_user_id: 12, from: "2026-01-31", external_reference: "a&b" });
    expect(urlsOf(sent)).toEqual([
      "/waiting_rooms/a%2Fb%20c%3F",
      "/organization_users/12/calls?from=2026-01-31&external_reference=a%26b",
    ]);
    expect(sent[0]).toMatchObject({ method: "PUT", body: '{"waiting_room":{"name":"Café"}}' });
    expect(sent[0]?.headers).toMatchObject({ "X-Client-ID": "id", "X-Client-Secret": "secret" });
    expect(sent[1]?.body).toBeUndefined();
  });

  it.each(["", ".", ".."])("sends no request if a slug is %j", async (slug) => {
    const { client, sent } = aClient();
    await expect(client.getWaitingRoom({ slug: slug as string })).rejects.toThrow(
      "slug must be an id or a slug",
    );
    expect(sent).toEqual([]);
  });

  it.each([
    ["eraseParticipations", { external_reference: "A", text: true }, / has no text; .*texts/],
    ["listRoles", { role: "provider" }, / has no role; here it has page, per_page$/],
    ["getOwnApiClient", { id: 1 }, / has no id; here it has no names$/],
    ["createWaitingRoom", { waiting_room: { name: "A", isActive: true } }, / has no isActive; .*is_active/],
    [
      "createBulkInvite",
      { organization_invites: [{}, { mail: "a@b.c" }] },
      / has no mail; here it has email/,
    ],
    ["getWaitingRoom", {}, /: slug is missing$/],
    ["getCall", { organization_user_id: 12, call_id: null }, /: call_id is missing$/],
    ["createVisit", {}, /: visit is missing$/],
    ["createVisit", { visit: { starts_at: new Date("tomorrow") } }, /: starts_at is an invalid date$/],
  ])("throws a TypeError if %s gets %j", async (name, input, error) => {
    const { client, sent } = aClient();
    const { [name]: operation } = client as unknown as Record<string, (input: object) => Promise<unknown>>;
    const thrown = await operation?.(input).catch((cause: unknown) => cause);
    expect(thrown).toBeInstanceOf(TypeError);
    expect((thrown as Error).message).toMatch(new RegExp(`^${name}${error.source}`));
    expect(sent).toEqual([]);
  });

  it("sends dates as timestamps", async () => {
    const { client, sent } = aClient();
    const starts_at = new Date("2026-01-31T10:30:00+01:00");
    const participants = [{ role: "recipient" as const, display_name: "Rita" }];
    await client.createVisit({ visit: { waiting_room_slug: "a--b", starts_at, participants } });
    expect(JSON.parse(String(sent[0]?.body)).visit.starts_at).toBe("2026-01-31T09:30:00.000Z");
  });

  it("sends back what a response shows", async () => {
    const { client, sent } = aClient();
    const call = { external_reference: "A", failed: false, id: 300 };
    await client.updateCall({ organization_user_id: 12, call_id: 300, call });
    expect(sent).toHaveLength(1);
  });

  it("sends an acting user and a purpose only after withActingUser", async () => {
    const { client, sent } = aClient();
    // Compiles only if the package and the service have the same purposes.
    const purposes: readonly PurposeOfUse[] = PURPOSES_OF_USE;
    const [purpose = "TREAT"]: readonly (typeof PURPOSES_OF_USE)[number][] = purposes;
    await client.withActingUser("user-17", purpose).listRoles();
    await client.listRoles();
    expect(sent[0]?.headers).toMatchObject({ "X-Acting-User": "user-17", "X-Purpose-Of-Use": "TREAT" });
    expect(sent[1]?.headers).not.toHaveProperty("X-Acting-User");
  });

  it("does not follow redirects with its secret", async () => {
    const elsewhere = new Response(null, { status: 302, headers: { Location: "https://elsewhere.test/" } });
    const { client, sent } = aClient([elsewhere]);
    await expect(client.listRoles()).rejects.toThrow("302: A redirect to https://elsewhere.test,");
    expect(sent).toMatchObject([{ redirect: "manual" }]);
  });

  it("paginates by page number, to the last page", async () => {
    const page = (n: number) =>
      Response.json({ waiting_rooms: [{ id: n }], pagination: { current_page: n, total_pages: 3 } });
    const { client, sent } = aClient([page(1), page(2), page(3)]);
    const rooms = await all(paginate(client.listWaitingRooms, { per_page: 1 }));
    expect(rooms).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }]);
    const queries = ["", "page=2&", "page=3&"];
    expect(urlsOf(sent)).toEqual(queries.map((page) => `/waiting_rooms?${page}per_page=1`));
  });

  it("paginates by id, until nothing is left", async () => {
    const { client, sent } = aClient([
      Response.json({ events: [{ id: 5 }], next_after: 5 }),
      Response.json({ events: [], next_after: 8 }),
      Response.json({ events: [], next_after: 8 }),
    ]);
    expect(await all(paginate(client.listEvents))).toEqual([{ id: 5 }]);
    expect(urlsOf(sent)).toEqual(["", "after=5&", "after=8&"].map((after) => `/events?${after}per_page=100`));
    const { client: other } = aClient([Response.json({ deliveries: [], next_after: null })]);
    expect(await all(paginate(other.listWebhookDeliveries, { id: 6 }))).toEqual([]);
  });

  it("does not mistake a proxy's error for an error of the service", async () => {
    const { client } = aClient([html(404)]);
    const text = "The response did not come from the service";
    await expect(client.listRoles()).rejects.toMatchObject({ status: 404, text });
  });
});
