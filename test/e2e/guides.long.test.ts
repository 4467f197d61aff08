import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { startIdentityProvider } from "../../src/dev/identity_provider.ts";
import { CLINIC, PAULA, PETRA } from "../../src/openapi/story.ts";
import { caller, demoCaller, platformCaller, platformToken } from "./support/callers.ts";
import { eventually } from "./support/eventually.ts";
import {
  differences,
  type Example,
  examplesIn,
  guideText,
  hasPython,
  makeProgramFolder,
  runExample,
  runInThread,
  runProgram,
  runPython,
  wholeProgram,
  wholePython,
} from "./support/guide.ts";
import { startReceiver } from "./support/receiver.ts";
import { registerIssuer } from "./support/sign_in.ts";

/** The values that a reader puts into variables, each from the response before. */
// biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of a response
type OwnValues = Record<string, (before: any) => unknown>;

describe("The requests in the guides", () => {
  const server = inject("sharedServer");
  let identityProvider: Awaited<ReturnType<typeof startIdentityProvider>>;
  let folder: string;
  let programs: string;

  beforeAll(async () => {
    programs = makeProgramFolder();
    folder = mkdtempSync(join(tmpdir(), "guides-"));
    identityProvider = await startIdentityProvider();
  });

  afterAll(async () => {
    await identityProvider?.stop();
    for (const each of [folder, programs]) rmSync(each, { recursive: true, force: true });
  });

  /** Sends all requests of an API in order, as a reader of the guides does. */
  async function follow(api: "external" | "platform", own: OwnValues, send = sendWithCurl) {
    const examples = examplesIn(guideText(api));
    expect(examples.length).toBeGreaterThan(15);
    const variables: Record<string, string> = { API: `${server.url}/api/${api}` };
    let before: unknown;
    for (const example of examples) {
      for (const name of example.variables)
        variables[name] = String((await own[name]?.(before)) ?? variables[name] ?? "");
      before = expectAsShown(example, await send(example, variables)) ?? before;
    }
  }

  type Sent = Awaited<ReturnType<typeof runExample>>;

  const sendWithCurl = (example: Example, variables: Record<string, string>): Promise<Sent> => {
    const pasted = example.pasted && withOwnCredentials(example.pasted);
    return runExample({ ...example, pasted }, variables, folder);
  };

  const sendWithPackage = (example: Example, variables: Record<string, string>): Promise<Sent> =>
    sendWithProgram(example, example.program, () =>
      // The guide's commands have invited the same person already.
      runInThread(wholeProgram(example, variables, server.url).replaceAll("ivy@", "ivy-2@"), programs),
    );

  const sendWithPython = (example: Example, variables: Record<string, string>): Promise<Sent> =>
    sendWithProgram(example, example.python, () =>
      runPython(wholePython(example, variables, server.url).replaceAll("ivy@", "ivy-3@"), programs),
    );

  /** Runs the program of an example. Programs send no requests to other servers, and write no files. */
  async function sendWithProgram(
    { status, header, json }: Example,
    program: string | undefined,
    run: () => ReturnType<typeof runInThread>,
  ): Promise<Sent> {
    const nothing = { status, headers: header ? [header] : [], json, output: "" };
    if (program === undefined) return nothing;
    const { code, lines, output } = await run();
    expect(code, output).toBe(0);
    const [printed = []] = lines;
    if (status >= 400) {
      const [status, code, error] = printed;
      return {
        ...nothing,
        status: Number(status),
        headers: [`Error-Code: ${code}`],
        json: { error },
        output,
      };
    }
    expect(lines, output).toHaveLength(1);
    return { ...nothing, json: json && printed[0], output };
  }

  /** The document has the credentials of `.dev.vars.example`, which a developer may have changed. */
  const withOwnCredentials = (pasted: string) =>
    pasted.replace(/Bearer [^"]*/, () => `Bearer ${platformToken()}`);

  function expectAsShown({ heading, status, header, json }: Example, sent: Sent) {
    const said = `${heading}:\n${sent.output}`;
    expect(sent.status, said).toBe(status);
    if (header) expect(sent.headers, said).toContain(header);
    if (json === undefined) return undefined;
    expect([...differences(json, sent.json)], said).toEqual([]);
    if (status >= 400) expect(sent.json, said).toEqual(json);
    return sent.json;
  }

  async function demoOrganization() {
    const { body } = await platformCaller(server.url)("GET", "/organizations");
    return body.organizations.find(({ slug }: { slug: string }) => slug === CLINIC.slug).id as number;
  }

  /** Whether only the owner can read the file. Windows has no such modes. */
  const isPrivate = (file: string) =>
    process.platform === "win32" || (statSync(join(folder, file)).mode & 0o077) === 0;

  it.each([
    ["with curl", () => sendWithCurl],
    ["with the client package", () => sendWithPackage],
    ...(hasPython ? [["in Python", () => sendWithPython] as const] : []),
  ] as const)("for organizations succeed %s in their order, as the guides say", async (way, send) => {
    const external = demoCaller(server.url);
    const receiver = await startReceiver();
    let keys = 0;
    const values: OwnValues = {
      KEY: () => `key-${++keys} ${way}`,
      async TOKEN() {
        const base = `/organizations/${await demoOrganization()}`;
        const made = await registerIssuer(platformCaller(server.url), base, identityProvider);
        // 422 if the other run of the guides has registered it.
        expect([201, 422]).toContain(made.status);
        return identityProvider.signIn(PAULA.email);
      },
      async BULK_INVITE_ID({ bulk_invite: { id } }) {
        await eventually(async () =>
          expect((await external("GET", `/bulk_invites/${id}`)).body.bulk_invite.status).toBe("completed"),
        );
        return id;
      },
      async MEMBER_ID() {
        const path = `/organizations/${await demoOrganization()}/users`;
        const user = { email: "guide@example.com", display_name: "Ann", roles: ["provider_assistant"] };
        return (await platformCaller(server.url)("POST", path, { user })).body.id;
      },
      async INVITE_ID() {
        const { organization_invites } = (await external("GET", "/invites")).body;
        // An invite may not be sent twice in a minute, so each run sends another one again.
        const invitee = { "with curl": "ines@", "with the client package": "ian@", "in Python": "ida@" }[way];
        return organization_invites.find(({ email }: { email: string }) => email.startsWith(invitee)).id;
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
      async LINE_ID() {
        const [call] = (await external("GET", "/calls")).body.calls;
        const path = `/organization_users/${call.organization_user_id}/calls/${call.id}/transcript`;
        return (await external("GET", path)).body.transcript_lines[1].id;
      },
      // Older than the calls in the guides.
      async OLD_CALL_ID() {
        const [{ slug: waiting_room_slug }] = (await external("GET", "/waiting_rooms")).body.waiting_rooms;
        const [{ organization_user_id }] = (await external("GET", "/calls")).body.calls;
        const times = { started_at: "2026-01-05T09:00:00Z", ended_at: "2026-01-05T09:20:00Z" };
        const call = { waiting_room_slug, organization_user_id, ...times, participants: [] };
        const path = `/organizations/${await demoOrganization()}/calls/old-call-${way.replaceAll(" ", "-")}`;
        return (await platformCaller(server.url)("PUT", path, { call })).body.id;
      },
      STARTS_AT: () => new Date(Date.now() + 3_600_000).toISOString(),
      DAY: async () => (await external("GET", "/visits?per_page=1")).body.visits[0].starts_at.slice(0, 10),
      PLAN_KEY: () => `plan ${way}`,
      PARTICIPANT_ID: ({ participants: [{ id }] }) => id,
      VISIT_ID: ({ id }) => id,
      ADMIN_ID: async () =>
        (await external("GET", "/organization_users")).body.organization_users.find(
          ({ roles }: { roles: string[] }) => roles.includes("organization_admin"),
        ).id,
      OLD_API_CLIENT_ID: ({ id }) => id,
      AFTER: () => 0,
      EGRESS_ID: ({ egresses }) => egresses[0].id,
      URL: ({ url }) => url ?? receiver.url,
      WEBHOOK_ENDPOINT_ID: ({ id }) => id,
    };
    await follow("external", values, send());
    expect(receiver.received).toMatchObject([
      { body: { type: "ping" } },
      { body: { type: "call.ended", test: true } },
    ]);
    if (send() === sendWithCurl) expect(isPrivate("client.curl")).toBe(true);
  });

  it.each(["external", "platform"] as const)("all have programs beside the command: %s", (api) => {
    const without = examplesIn(guideText(api)).filter(
      ({ program, python }) => !python || (api === "external" && !program),
    );
    expect(without.filter(({ commands }) => commands.includes("$API")).map(({ heading }) => heading)).toEqual(
      [],
    );
  });

  describe("in the guide to the client package", () => {
    const [, guide = ""] = /^# The client package\n([\s\S]*?)^# /m.exec(guideText("external")) ?? [];
    const blocks = [...guide.matchAll(/```js\n([\s\S]*?)```/g)].map(([, block = ""]) => block);
    const blockWith = (text: string) => blocks.find((block) => block.includes(text)) ?? "";

    async function run(text: string, untilLine = false) {
      const program = wholeProgram({ program: blockWith(text), variables: [] }, {}, server.url);
      rmSync(join(programs, "last_event.txt"), { force: true });
      const ran = await runProgram(program, programs, untilLine);
      if (!untilLine) expect(ran.code, ran.output).toBe(0);
      return ran.lines;
    }

    it("are all tested here", () => {
      expect(blocks).toHaveLength(10);
    });

    it.each([
      ["create a room", "createClient", [expect.stringMatching(/^riverside-clinic--cardiology(-\d+)?$/)]],
      ["delete an item of a list", "deleteInvite", [expect.any(Number)]],
      [
        "print what failed",
        "error.failed",
        ["GET", "/waiting_rooms/no-such-room", "response", 404, "not_found", "Waiting room not found"],
      ],
      ["erase a patient", "eraseParticipant", [0, 0, 0]],
      ["name the acting user", "withActingUser", [expect.objectContaining({ calls: expect.any(Array) })]],
    ])("%s", async (_, text, line) => {
      expect(await run(text)).toEqual([line]);
    });

    it("read a whole list", async () => {
      const { total_count } = (await demoCaller(server.url)("GET", "/organization_users")).body.pagination;
      expect((await run("paginate")).length).toBeGreaterThanOrEqual(Math.min(3, total_count));
    });

    it("follow events", async () => {
      const [[type, data] = []] = await run("followEvents", true);
      expect(type).toBe("call.started");
      expect(data).toMatchObject({ call_id: expect.any(Number) });
    });

    it("read a list as NDJSON", async () => {
      const lines = await run("x-ndjson");
      expect(lines.length).toBeGreaterThan(3);
      expect(lines[0]).toEqual([expect.stringMatching(/^\d{4}-/), expect.any(String), expect.any(Number)]);
    });

    it("check the access log, after the cron has sealed a day", async () => {
      await fetch(`${server.url}/cdn-cgi/local/scheduled?cron=*/5+*+*+*+*`);
      const [[entries, days, head] = [0, 0]] = (await run("verifyAccessLog")) as [number, number, object?][];
      expect([entries >= 4, days >= 1]).toEqual([true, true]);
      expect(head).toMatchObject({ seal_sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
    });

    it("receive webhooks", async () => {
      writeFileSync(join(programs, "receiver.mjs"), blockWith("verifyWebhook"));
      const { default: receiver } = await import(pathToFileURL(join(programs, "receiver.mjs")).href);
      const WEBHOOK_SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
      const [body, at] = ['{"id": 1, "type": "ping", "data": {}}', new Date()];
      const headers = {
        "webhook-id": "evt_1",
        "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
        "webhook-signature": new Webhook(WEBHOOK_SECRET).sign("evt_1", at, body),
      };
      const statusOf = async (text: string) => {
        const request = new Request("https://hooks.test", { method: "POST", headers, body: text });
        return (await receiver.fetch(request, { WEBHOOK_SECRET })).status;
      };
      expect(await statusOf(body)).toBe(204);
      expect(await statusOf(`${body} `)).toBe(400);
    });
  });

  describe("in the guides to results", () => {
    const LANGUAGES = ["js", ...(hasPython ? ["python"] : [])];

    it.each(LANGUAGES)("store the results of the demo's call, with its recording: %s", async (language) => {
      rmSync(join(programs, "results"), { recursive: true, force: true });
      const [, guide = ""] = guideText("external").split("# Collect the results of a call\n");
      const program = new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(guide)?.[1];
      const { lines, output } =
        language === "js"
          ? await runProgram(wholeProgram({ program, variables: [] }, {}, server.url), programs, true)
          : await runPython(wholePython({ python: program, variables: [] }, {}, server.url), programs, true);
      const [[id] = []] = lines;
      const stored = readdirSync(join(programs, "results"));
      expect(stored, output).toEqual(expect.arrayContaining([`call-${id}.json`, "last_event.txt"]));
      const { call, transcript } = JSON.parse(
        readFileSync(join(programs, "results", `call-${id}.json`), "utf8"),
      );
      expect(call).toMatchObject({ id, is_ended: true, results: { transcript: "ready", egresses: 1 } });
      expect(transcript.transcript_lines.length).toBeGreaterThan(1);
      const recording = stored.find((file) => file.startsWith("recording-"));
      expect(readFileSync(join(programs, "results", recording ?? ""), "latin1")).toMatch(/^RIFF/);
    });
  });

  const sendToPlatform = (example: Example, variables: Record<string, string>): Promise<Sent> =>
    sendWithProgram(example, example.pasted ? undefined : example.python, () =>
      runPython(wholePython(example, variables, server.url, "platform"), programs),
    );

  it.each([
    ["with curl", () => sendWithCurl],
    ...(hasPython ? [["in Python", () => sendToPlatform] as const] : []),
  ] as const)("for the platform succeed %s in their order, as the guides say", async (_, send) => {
    const platform = platformCaller(server.url);
    /** The organization and the API client from the first requests. */
    const made: Record<string, string> = {};
    const clinic = () =>
      caller(`${server.url}/api/external`, {
        "X-Client-ID": made.client_id ?? "",
        "X-Client-Secret": made.client_secret ?? "",
      });
    async function petra() {
      const { body } = await platform("GET", `/organizations/${made.organization_id}/users`);
      return body.users.find(({ email }: { email: string }) => email === PETRA.email);
    }
    const values: OwnValues = {
      ORGANIZATION_ID({ id, slug }) {
        made.slug ??= slug;
        return id;
      },
      ADMIN_ID: ({ id }) => id,
      async CODE({ organization_id, id }) {
        made.organization_id = organization_id;
        await platform("DELETE", `/issuers/${id}`);
        await registerIssuer(platform, `/organizations/${organization_id}`, identityProvider);
        const { body: users } = await platform("GET", `/organizations/${organization_id}/users`);
        const { body: client } = await platform("POST", `/organizations/${organization_id}/api_clients`, {
          api_client: { name: "Web app", organization_user_id: users.users[0].id },
        });
        Object.assign(made, client);
        const token = await identityProvider.signIn(PETRA.email);
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
      ORGANIZATION_USER_ID: async () => (await petra()).id,
      USER_ID: async () => (await petra()).user_id,
      PARTICIPANT_KEY: () => "participant-1",
      CALL_KEY: () => "call-1",
      EGRESS_ID: () => "egress-1",
      STORAGE_KEY: () => `${made.slug}/call-1.mp4`,
      async VISIT_TOKEN() {
        const [{ slug }] = (await clinic()("GET", "/waiting_rooms")).body.waiting_rooms;
        const starts_at = new Date(Date.now() + 3_600_000).toISOString();
        const participants = [{ role: "recipient", display_name: "Rita Recipient" }];
        const visit = { waiting_room_slug: slug, starts_at, participants };
        const { body } = await clinic()("POST", "/visits", { visit });
        return new URL(body.participants[0].join_url).searchParams.get("visit");
      },
    };
    await follow("platform", values, send());
    if (send() === sendWithCurl) expect(isPrivate("platform.curl")).toBe(true);
  });
});
