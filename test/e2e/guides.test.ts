import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { DEMO_CLIENT } from "../../src/dev/demo_organization.ts";
import { startIdentityProvider } from "../../src/dev/identity_provider.ts";
import { eventually } from "./support/eventually.ts";
import { type Example, examplesIn, guideText, runExample, shapeOf, withNullsOf } from "./support/guide.ts";
import { startReceiver } from "./support/receiver.ts";
import { caller, platformCaller, platformToken } from "./support/server.ts";

const lacking = ["sh", "curl"].filter((command) => spawnSync(command, ["-c", ":"]).error);

if (lacking.length > 0)
  process.stdout.write(
    `Skipped: the requests in the guides are not sent, because ${lacking.join(" and ")} is not installed.\n`,
  );

/** What a reader puts into a variable, from what the response before said. */
// biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of a response
type OwnValues = Record<string, (before: any) => unknown>;

describe.skipIf(lacking.length > 0)("The requests in the guides", () => {
  const server = inject("sharedServer");
  let identityProvider: Awaited<ReturnType<typeof startIdentityProvider>>;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "guides-"));
    identityProvider = await startIdentityProvider();
  });

  afterAll(async () => {
    await identityProvider?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Sends all of an API's requests, one after the other, as somebody does who reads the guides. */
  async function follow(api: "external" | "platform", own: OwnValues) {
    const examples = examplesIn(guideText(api));
    expect(examples.length).toBeGreaterThan(15);
    const variables: Record<string, string> = { API: `${server.url}/api/${api}` };
    let before: unknown;
    for (const example of examples) {
      for (const name of example.variables)
        variables[name] = String((await own[name]?.(before)) ?? variables[name] ?? "");
      const pasted = example.pasted && withOwnCredentials(example.pasted);
      before = expectAsShown(example, await runExample({ ...example, pasted }, variables, folder)) ?? before;
    }
  }

  /** The document has the credentials of `.dev.vars.example`, which a developer may have changed. */
  const withOwnCredentials = (pasted: string) =>
    pasted.replace(/Bearer [^"]*/, () => `Bearer ${platformToken()}`);

  function expectAsShown(
    { heading, status, header, json }: Example,
    sent: Awaited<ReturnType<typeof runExample>>,
  ) {
    const said = `${heading}:\n${sent.output}`;
    expect(sent.status, said).toBe(status);
    if (header) expect(sent.headers, said).toContain(header);
    if (json === undefined) return undefined;
    const [shown, received] = [shapeOf(json), shapeOf(sent.json)];
    expect(withNullsOf(received, shown), said).toEqual(withNullsOf(shown, received));
    if (status >= 400) expect(sent.json, said).toEqual(json);
    return sent.json;
  }

  /** The number that the platform knows of the demo organization. */
  async function demoOrganization() {
    const { body } = await platformCaller(server.url)("GET", "/organizations");
    return body.organizations.find(({ slug }: { slug: string }) => slug === "demo-clinic").id as number;
  }

  /** Whether nobody else can read the file. Windows has no such modes. */
  const isPrivate = (file: string) =>
    process.platform === "win32" || (statSync(join(folder, file)).mode & 0o077) === 0;

  it("to organizations succeed as the guides say, one after the other", async () => {
    const { client_id, client_secret } = DEMO_CLIENT;
    const external = caller(`${server.url}/api/external`, {
      "X-Client-ID": client_id,
      "X-Client-Secret": client_secret,
    });
    const receiver = await startReceiver();
    let keys = 0;
    await follow("external", {
      KEY: () => `key-${++keys}`,
      async TOKEN() {
        const { issuer, audience, jwks_url } = identityProvider;
        const path = `/organizations/${await demoOrganization()}/issuers`;
        const made = await platformCaller(server.url)("POST", path, {
          issuer: { issuer, audience, jwks_url },
        });
        expect(made.status).toBe(201);
        return identityProvider.signIn("pascal@demo-clinic.example");
      },
      async BULK_INVITE_ID({ bulk_invite: { id } }) {
        await eventually(async () =>
          expect((await external("GET", `/bulk_invites/${id}`)).body.bulk_invite.status).toBe("completed"),
        );
        return id;
      },
      async MEMBER_ID() {
        const path = `/organizations/${await demoOrganization()}/users`;
        const user = { email: "ann@demo-clinic.example", display_name: "Ann", roles: ["provider_assistant"] };
        return (await platformCaller(server.url)("POST", path, { user })).body.id;
      },
      async INVITE_ID() {
        const { organization_invites } = (await external("GET", "/invites")).body;
        return organization_invites.find(({ email }: { email: string }) => email.startsWith("ida@")).id;
      },
      async WAITING_ROOM_SLUG() {
        const { slug } = (await external("GET", "/waiting_rooms")).body.waiting_rooms[0];
        await external("PUT", `/waiting_rooms/${slug}`, { waiting_room: { is_active: true } });
        const waiting_since = new Date().toISOString();
        const participant = { display_name: "Rita Recipient", role: "recipient", waiting_since };
        const waits = await platformCaller(server.url)(
          "PUT",
          `/waiting_rooms/${slug}/participants/guide-${Date.now()}`,
          { participant },
        );
        expect(waits.status).toBe(200);
        return slug;
      },
      ORGANIZATION_USER_ID: async ({ calls }) => {
        if (calls) return calls[0].organization_user_id;
        const { body } = await external("GET", "/organization_users");
        return body.organization_users.find(({ roles }: { roles: string[] }) => roles.includes("provider"))
          .id;
      },
      CALL_ID: async ({ calls }) => (calls ? calls[0].id : undefined),
      AFTER: () => 0,
      EGRESS_ID: ({ egresses }) => egresses[0].id,
      URL: ({ url }) => url ?? receiver.url,
      WEBHOOK_ENDPOINT_ID: ({ id }) => id,
    });
    expect(receiver.received).toMatchObject([{ body: { type: "ping" } }]);
    expect(isPrivate("client.curl")).toBe(true);
  });

  it("to the platform succeed as the guides say, one after the other", async () => {
    const platform = platformCaller(server.url);
    /** Made by the first requests. */
    const made: Record<string, string> = {};
    const clinic = () =>
      caller(`${server.url}/api/external`, {
        "X-Client-ID": made.client_id ?? "",
        "X-Client-Secret": made.client_secret ?? "",
      });
    async function paula() {
      const { body } = await platform("GET", `/organizations/${made.organization_id}/users`);
      return body.users.find(({ email }: { email: string }) => email === "paula@example.com");
    }
    await follow("platform", {
      ORGANIZATION_ID: ({ id }) => id,
      ADMIN_ID: ({ id }) => id,
      async CODE({ organization_id, id }) {
        made.organization_id = organization_id;
        const { issuer, audience, jwks_url } = identityProvider;
        await platform("DELETE", `/issuers/${id}`);
        await platform("POST", `/organizations/${organization_id}/issuers`, {
          issuer: { issuer, audience, jwks_url },
        });
        const { body: users } = await platform("GET", `/organizations/${organization_id}/users`);
        const { body: client } = await platform("POST", `/organizations/${organization_id}/api_clients`, {
          api_client: { name: "Web app", organization_user_id: users.users[0].id },
        });
        Object.assign(made, client);
        const token = await identityProvider.signIn("paula@example.com");
        return (await clinic()("POST", "/auth/token_exchange", { token_exchange: { token } })).body.code;
      },
      async WAITING_ROOM_SLUG() {
        const room = { waiting_room: { name: "Cardiology", is_active: true } };
        return (await clinic()("POST", "/waiting_rooms", room)).body.slug;
      },
      async AFTER() {
        const invite = { email: "ines@example.com", display_name: "Ines Invited", role_names: ["provider"] };
        return (await clinic()("POST", "/invites", { organization_invite: invite })).body.id - 1;
      },
      INVITE_ID: ({ organization_invites: [invite] }) => invite.id,
      TOKEN: ({ accept_url }) => new URL(accept_url).searchParams.get("token"),
      ORGANIZATION_USER_ID: async () => (await paula()).id,
      USER_ID: async () => (await paula()).user_id,
      PARTICIPANT_KEY: () => "participant-1",
      CALL_KEY: () => "call-1",
      EGRESS_ID: () => "egress-1",
    });
    expect(isPrivate("platform.curl")).toBe(true);
  });
});
