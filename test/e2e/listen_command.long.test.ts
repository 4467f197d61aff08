import { Webhook } from "standardwebhooks";
import { describe, expect, inject, it } from "vitest";
import { eventually } from "./support/eventually.ts";
import { startListening } from "./support/listening.ts";
import { anOrganization } from "./support/organization.ts";
import { type Received, startReceiver } from "./support/receiver.ts";

const server = inject("sharedServer");

const listen = ({ credentials }: { credentials: Record<string, string> }, ...args: string[]) =>
  startListening(credentials, "--url", server.url, ...args);

/** The part of a webhook that does not depend on the secret and on when it was sent. */
const contentOf = ({ text, headers }: Received) => ({
  text,
  headers: ["content-type", "user-agent", "webhook-id"].map((name) => headers[name]),
});

// Concurrent, because these tests mostly wait.
describe.concurrent("listen", () => {
  it("sends what happens from its start on, exactly as the service sends it, and prints a line for each event", async () => {
    const clinic = await anOrganization(server.url);
    const [local, real] = [await startReceiver(), await startReceiver()];
    const webhook_endpoint = { url: real.url };
    expect((await clinic.external("POST", "/webhook_endpoints", { webhook_endpoint })).status).toBe(201);
    const { next_after: last } = (await clinic.external("GET", "/events")).body;
    const command = listen(clinic, "--forward-to", local.url);
    const secret = await command.secret();
    expect(command.seen.stdout).toContain(`\nSending the events after ${last} to ${local.url}. `);
    await clinic.addUser("paula", "provider");
    const invite = { email: "ines@example.com", display_name: "Ines", role_names: ["provider"] };
    expect((await clinic.external("POST", "/invites", { organization_invite: invite })).status).toBe(201);
    const { events } = (await clinic.external("GET", `/events?after=${last}`)).body;
    const expected = events as { id: number; type: string }[];
    expect(last).toBeGreaterThan(0);
    expect(expected.length).toBeGreaterThanOrEqual(2);
    await eventually(() => expect(command.lines()).toHaveLength(expected.length), 50);
    expect(command.lines()).toEqual(expected.map(({ type, id }) => `${type} ${id} 204`));
    await eventually(() => expect(real.received).toHaveLength(expected.length), 50);
    expect(local.received.map(contentOf)).toEqual(real.received.map(contentOf));
    for (const { text, headers } of local.received) new Webhook(secret).verify(text, headers);
    expect(await command.stop()).toMatchObject({ code: 0, stderr: "" });
  });

  it("begins after --after, and sends each event once, whatever the receiver responds", async () => {
    const clinic = await anOrganization(server.url);
    const { next_after: last } = (await clinic.external("GET", "/events")).body;
    for (const name of ["paula", "peter", "petra"]) await clinic.addUser(name, "provider_assistant");
    const ids = (await clinic.external("GET", `/events?after=${last}`)).body.events.map(
      ({ id }: { id: number }) => id,
    );
    const elsewhere = await startReceiver();
    const local = await startReceiver((response, _, count) => {
      if (count === 1) response.writeHead(500).end();
      else if (count === 2) response.writeHead(302, { Location: elsewhere.url }).end();
      // This response never ends.
      else response.writeHead(200).write("x");
    });
    const command = listen(clinic, "--forward-to", local.url, "--after", String(last));
    await eventually(() => expect(command.lines()).toHaveLength(3), 50);
    expect(command.lines()).toEqual(
      [500, 302, 200].map((status, n) => `organization_user.added ${ids[n]} ${status}`),
    );
    // A further request for events: nothing is sent again.
    await clinic.addUser("pauline", "provider_assistant");
    await eventually(() => expect(command.lines()).toHaveLength(4), 50);
    expect(local.received.map(({ body }) => body.id).slice(0, 3)).toEqual(ids);
    expect(local.received).toHaveLength(4);
    expect(elsewhere.received).toEqual([]);
    expect((await command.stop()).code).toBe(0);
  });

  it("sends only the types that --type names, signed with WEBHOOK_SECRET", async () => {
    const clinic = await anOrganization(server.url);
    const { next_after: last } = (await clinic.external("GET", "/events")).body;
    await clinic.addUser("paula", "provider");
    const local = await startReceiver();
    const WEBHOOK_SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
    const args = ["--forward-to", local.url, "--after", String(last), "--type", "waiting_room.*"];
    const command = listen({ credentials: { ...clinic.credentials, WEBHOOK_SECRET } }, ...args);
    await eventually(() => expect(command.seen.stdout).toMatch(/^waiting_room.created \d+ 204$/m), 50);
    const [{ text, headers, body }] = local.received as [Received];
    new Webhook(WEBHOOK_SECRET).verify(text, headers);
    expect(body.type).toBe("waiting_room.created");
    const { stdout } = await command.stop();
    expect(stdout).not.toContain("whsec_");
    const { code, stderr } = await listen(clinic, "--forward-to", local.url, "--type", "room.*").ended;
    expect(code).toBe(3);
    expect(stderr).toMatch(/400: type: must be a type of event: .*waiting_room\.\*/);
  });

  it("ends with an error if the client may not read events", async () => {
    const clinic = await anOrganization(server.url, { role: "provider" });
    const { code, stdout, stderr } = await listen(clinic, "--forward-to", "http://localhost:4000").ended;
    expect({ code, stdout, stderr }).toEqual({
      code: 3,
      stdout: "",
      stderr: expect.stringMatching(
        /^GET \/events: 403: This operation is only for .* act as organization_admin/,
      ),
    });
  });

  it.each([
    [["--forward-to", "localhost:3000"], "--forward-to must be an address such as"],
    [[], "--forward-to must be an address such as"],
    [["--forward-to", "http://user:password@localhost:4000"], "--forward-to must be an address such as"],
    [["--forward-to", "http://localhost:4000", "--after", "now"], "--after must be the id of an event."],
    [["--nonsense"], "Unknown option '--nonsense'"],
  ])("refuses wrong arguments, and says what it expects: %j", async (args, said) => {
    const { code, stdout, stderr } = await startListening(
      { "X-Client-ID": "id", "X-Client-Secret": "secret" },
      ...["--url", server.url, ...args],
    ).ended;
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(said);
    expect(stderr).toContain("Usage: npx organization-video-visit-client listen --url URL --forward-to URL");
    expect(stderr).not.toContain("password");
  });
});
