import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, inject, it, onTestFinished } from "vitest";
import { DEMO_CLIENT, loadDemoOrganization } from "../../src/dev/demo_organization.ts";
import { withLocalBindings } from "../../src/dev/local_database.ts";
import { headersOf } from "./support/curl_config.ts";
import { startDevServer } from "./support/dev_server.ts";
import { rowsIn, tablesIn, withDatabases } from "./support/local_databases.ts";
import { caller, npmRun, platformCaller } from "./support/server.ts";

const server = inject("sharedServer");

async function asTheCurlLineDoes({ curl }: { curl: string }) {
  const [, file = "", url = ""] = /-K (\S+) (http:\S+)$/.exec(curl) ?? [];
  const response = await fetch(url, { headers: headersOf(readFileSync(file, "utf8")) });
  return {
    status: response.status,
    body: (await response.json()) as { pagination: { total_count: number } },
  };
}

describe("A newcomer", () => {
  it("starts the server with one command, and the curl line that it prints works", async () => {
    const { status, body } = await asTheCurlLineDoes(server);
    expect(status).toBe(200);
    // The guides are followed on the same server, and make more.
    expect(body.pagination.total_count).toBeGreaterThanOrEqual(4);
  });

  it("finds the service healthy, and guides with the credentials for development filled in", async () => {
    expect((await fetch(`${server.url}/health`)).status).toBe(200);
    const guide = await (await fetch(`${server.url}/external/guides/first-request`)).text();
    expect(guide).toContain(DEMO_CLIENT.client_secret);
  });

  it("goes through the product with another command", async () => {
    const { code, output } = await npmRun("demo", "--", server.url);
    expect(output).toMatch(/The room is retired too early +→ 422/);
    expect(output).toMatch(/each with the right signature +→ ping, call\.started, call\.ended\n/);
    expect(output).toMatch(/Her client is revoked +→ 401/);
    const lines = output.split("\n");
    expect(lines.length).toBeLessThan(120);
    expect(lines.filter((line) => line.length > 105 && !line.startsWith("oidc-provider"))).toEqual([]);
    expect(output).not.toMatch(/→ 5\d\d/);
    expect(code).toBe(0);
  });

  it("finds the same demo organization after starting the server again", async () => {
    const data = mkdtempSync(join(tmpdir(), "video-visits-again-"));
    onTestFinished(() => rmSync(data, { recursive: true, force: true, maxRetries: 5 }));
    cpSync(join(inject("migratedState"), "v3"), join(data, "v3"), { recursive: true });
    await withLocalBindings({ persistTo: data }, async (env) => {
      expect(await loadDemoOrganization(env, Date.now() - 60_000)).toBe(true);
      expect(await loadDemoOrganization(env, Date.now())).toBe(false);
    });
    const rows = () =>
      withDatabases(data, (databases) =>
        [...databases.values()].map((each) => tablesIn(each).map((table) => [table, rowsIn(each, table)])),
      );
    const before = rows();
    const again = startDevServer({ data, temporary: data });
    onTestFinished(again.stop);
    const ready = await again.ready;
    expect(rows()).toEqual(before);
    expect(await asTheCurlLineDoes(ready)).toMatchObject({ body: { pagination: { total_count: 4 } } });
  });
});

describe("An organization", () => {
  it("is created by the platform, creates a room, and lets a substitute take over the room", async () => {
    const platform = platformCaller(server.url);
    const organization = await platform("POST", "/organizations", {
      organization: { name: "Hillside Clinic" },
    });
    expect(organization.status).toBe(201);
    const users = `/organizations/${organization.body.id}/users`;
    const admin = await platform("POST", users, {
      user: { email: "ada@hillside.example", display_name: "Ada", roles: ["organization_admin"] },
    });
    const provider = await platform("POST", users, {
      user: { email: "paul@hillside.example", display_name: "Paul", roles: ["provider"] },
    });
    const client = await platform("POST", `/organizations/${organization.body.id}/api_clients`, {
      api_client: { name: "Integration", organization_user_id: admin.body.id },
    });
    expect([admin.status, provider.status, client.status]).toEqual([201, 201, 201]);

    const external = caller(`${server.url}/api/external`, {
      "X-Client-ID": client.body.client_id,
      "X-Client-Secret": client.body.client_secret,
    });
    const room = await external("POST", "/waiting_rooms", {
      waiting_room: { name: "Oncology", is_active: true },
    });
    expect(room.status).toBe(201);
    const subs = `/waiting_rooms/${room.body.slug}/waiting_room_subs`;
    const sub = await external("POST", subs, {
      waiting_room_sub: {
        user_id: provider.body.user_id,
        datetime_start: new Date(Date.now() - 60_000).toISOString(),
      },
    });
    expect(sub.status).toBe(201);

    const opened = await platform("GET", `/waiting_rooms/${room.body.slug}`);
    expect(opened.body).toMatchObject({
      active_sub: { id: sub.body.id },
      destination_slug: provider.body.waiting_room_slug,
    });
    const participant = `/waiting_rooms/${room.body.slug}/participants/visit-1`;
    const entered = await platform("PUT", participant, {
      participant: { display_name: "Rita", role: "recipient", waiting_since: new Date().toISOString() },
    });
    expect(entered.status).toBe(200);
    expect((await external("GET", `/waiting_rooms/${room.body.slug}`)).body.waiting_count).toBe(1);
    expect((await external("DELETE", `/waiting_rooms/${room.body.slug}`)).status).toBe(422);

    await platform("PUT", participant, { participant: { left_at: new Date().toISOString() } });
    expect((await external("DELETE", `${subs}/${sub.body.id}`)).status).toBe(204);
    expect((await external("DELETE", `/waiting_rooms/${room.body.slug}`)).status).toBe(204);
    expect((await external("GET", `/waiting_rooms/${room.body.slug}`)).status).toBe(404);
  });
});
