import { randomUUID } from "node:crypto";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, inject, it, onTestFinished, vi } from "vitest";
import { provision as runCommand } from "../../src/dev/provision.ts";
import { headersOf } from "./support/curl_config.ts";
import { npmRun, platformCaller } from "./support/server.ts";

const server = inject("sharedServer");

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

const aSlug = () => `hillside-${randomUUID()}`;

const flagsOf = (options: object) => Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);

/** Runs the command in this process: to start Node for each run would take most of the time. */
async function runHere(...args: string[]): Promise<{ code: number | null; output: string }> {
  let output = "";
  for (const stream of [process.stdout, process.stderr])
    vi.spyOn(stream, "write").mockImplementation((text) => {
      output += text;
      return true;
    });
  const code = await runCommand(args);
  vi.restoreAllMocks();
  return { code, output };
}

/** Runs the command with what a new organization needs, but for what is given otherwise. */
async function provision(options: Record<string, string | undefined> = {}, run = runHere) {
  const needed = {
    url: server.url,
    name: "Hillside Clinic",
    slug: aSlug(),
    email: "ada@hillside.example",
    "display-name": "Ada Lovelace",
  };
  const given = Object.entries({ ...needed, ...options }).filter(([, value]) => value !== undefined);
  const { code, output } = await run(...flagsOf(Object.fromEntries(given)));
  return { code, output, message: output.trim().split("\n") };
}

/** Sends what the printed curl line says, with the printed lines as the configuration of curl. */
async function firstRequest(output: string) {
  const url = /^ {2}curl(?:\.exe)? -K client\.curl (http\S+)$/m.exec(output)?.[1] ?? "";
  const response = await fetch(url, { headers: headersOf(output) });
  return { status: response.status, body: await response.json() };
}

/** The address of an HTTP server that ends with the test. */
async function addressOf(listener: RequestListener) {
  const stranger = createServer(listener);
  await new Promise<void>((resolve) => stranger.listen(0, "127.0.0.1", resolve));
  const stop = () => new Promise((resolve) => stranger.close(resolve));
  onTestFinished(async () => {
    if (stranger.listening) await stop();
  });
  return { url: `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`, stop };
}

/** Something in front of the service that loses the requests to one path. */
async function losing(path: RegExp) {
  const state = { path };
  const { url } = await addressOf(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    if (state.path.test(request.url ?? "")) return request.socket.destroy();
    const { authorization = "" } = request.headers;
    const answer = await fetch(server.url + request.url, {
      method: "POST",
      headers: { authorization, "content-type": "application/json" },
      body: Buffer.concat(chunks),
    });
    response.writeHead(answer.status, { "content-type": "application/json" });
    response.end(await answer.text());
  });
  return Object.assign(state, { url });
}

describe("The provision command", () => {
  it("makes an organization whose administrator makes the first request with the printed line", async () => {
    const { code, output } = await provision({}, (...args) => npmRun("provision", "--", ...args));
    expect(code).toBe(0);
    expect(output).toContain("nothing shows it again");
    expect(await firstRequest(output)).toMatchObject({
      status: 200,
      body: {
        organization_users: [
          { email: "ada@hillside.example", display_name: "Ada Lovelace", roles: ["organization_admin"] },
        ],
      },
    });
  });

  it("says how to continue when the service is lost after the organization or its administrator was made", async () => {
    const proxy = await losing(/users$/);
    const slug = aSlug();
    const failed = await provision({ url: proxy.url, slug });
    expect(failed.code).toBe(1);
    const organization = /add to it: --organization (\d+)$/m.exec(failed.output)?.[1] ?? "";
    expect(failed.message).toEqual([
      expect.stringContaining(`${proxy.url} cannot be reached`),
      expect.stringContaining(`--organization ${organization}`),
    ]);

    proxy.path = /api_clients$/;
    const again = await provision({ url: proxy.url, slug, organization });
    expect(again.code).toBe(1);
    const user = /add to it: --organization-user (\d+)$/m.exec(again.output)?.[1] ?? "";

    proxy.path = /nothing/;
    const continued = await provision({ url: proxy.url, organization, "organization-user": user });
    expect(continued.code).toBe(0);
    expect(continued.output).toContain(`Organization ${organization} `);
    const listed = await firstRequest(continued.output.replace(proxy.url, server.url));
    expect(listed.body).toMatchObject({ organization_users: [{ id: Number(user) }] });
  });

  it("adds another client for an administrator who is there, without a name or an email", async () => {
    const first = await provision();
    const [, organization, user] = /Organization (\d+) has the administrator (\d+)/.exec(first.output) ?? [];
    const second = await provision({
      ...{ name: undefined, slug: undefined, email: undefined, "display-name": undefined },
      ...{ organization, "organization-user": user },
    });
    expect(second.code).toBe(0);
    expect(await firstRequest(second.output)).toEqual(await firstRequest(first.output));
  });

  it("says in one line that the slug is taken, and makes nothing", async () => {
    const slug = aSlug();
    await provision({ slug });
    const { code, message } = await provision({ slug });
    expect(code).toBe(1);
    expect(message).toEqual([
      expect.stringMatching(/^--slug: is taken by another organization\. .*--organization/),
    ]);
  });

  it("says in one line that the service cannot be reached", async () => {
    const { url, stop } = await addressOf(() => {});
    await stop();
    const { code, message } = await provision({ url });
    expect(code).toBe(1);
    expect(message).toEqual([`${url} cannot be reached: ECONNREFUSED. Start it with \`npm run dev\`.`]);
  });

  it("says in one line that the token is wrong, and where it has it from", async () => {
    vi.stubEnv("PLATFORM_API_TOKEN", "a-token-that-somebody-has-mistyped");
    const { code, message } = await provision();
    expect(code).toBe(1);
    expect(message).toEqual([
      "The service does not accept the token from the environment variable PLATFORM_API_TOKEN.",
    ]);
  });

  it("never sends the token of .dev.vars to another machine, nor any token unencrypted", async () => {
    const elsewhere = await provision({ url: "https://visits.invalid" });
    expect(elsewhere.message).toEqual([
      "Set the environment variable PLATFORM_API_TOKEN to the platform's token of https://visits.invalid.",
    ]);
    const unencrypted = await provision({ url: "http://visits.invalid" });
    expect(unencrypted.message[0]).toMatch(/^--url: must be https/);
    expect([elsewhere.code, unencrypted.code]).toEqual([1, 1]);
  });

  it("says in one line that the address is not that of the service", async () => {
    const { url } = await addressOf((_, response) => {
      response.writeHead(404);
      response.end("<h1>Not Found</h1>");
    });
    const { code, message } = await provision({ url });
    expect(code).toBe(1);
    expect(message).toEqual(["The address answers with 404, and not as this service does."]);
  });

  it.each([
    ["--email: is required", { email: undefined }],
    ["--slug: is required", { slug: undefined }],
    [
      "--slug: must be 1 to 63 characters of a-z and 0-9, with single hyphens between them",
      { slug: "Hill side" },
    ],
    ["--email: must be an email address", { email: "ada" }],
    ["--client-name: must not be blank", { "client-name": " " }],
    ["--organization: must be an id, such as 12", { organization: "first" }],
    ["--organization-user: needs --organization too", { "organization-user": "7" }],
    [
      "--url: visits.example must be the service's address, such as https://visits.example.com",
      { url: "visits.example" },
    ],
  ])(
    "makes nothing of wrong arguments, and says what is wrong and how it is used: %s",
    async (fault, wrong) => {
      const slug = aSlug();
      const { code, message } = await provision({ slug, ...wrong });
      expect(code).toBe(1);
      expect(message[0]).toBe(fault);
      expect(message[2]).toMatch(/^Usage: npm run provision/);
      const platform = platformCaller(server.url);
      expect(
        (await platform("POST", "/organizations", { organization: { name: "Free", slug } })).status,
      ).toBe(201);
    },
  );
});
