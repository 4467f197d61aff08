import { existsSync, readFileSync } from "node:fs";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Server, startServer } from "./support/server.ts";

const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(
  existsSync,
);

if (!CHROMIUM)
  process.stdout.write("Skipped: the reference page is not opened, because Chromium is not installed.\n");

describe.skipIf(!CHROMIUM)("The reference page, in a real browser", () => {
  let server: Server;
  let browser: Browser;
  let page: Page;
  const hosts = new Set<string>();
  const complaints: string[] = [];

  beforeAll(async () => {
    server = await startServer();
    browser = await chromium.launch({
      executablePath: CHROMIUM,
      args: [
        "--no-sandbox",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
    });
    page = await browser.newPage();
    page.on("request", (request) => hosts.add(new URL(request.url()).host));
    page.on("pageerror", ({ message }) => complaints.push(message));
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) complaints.push(message.text());
    });
    await page.goto(server.url);
  });

  afterAll(() => browser?.close());

  it("lists the operations of the external door", async () => {
    const document = JSON.parse(readFileSync("dist/public/api/external/openapi.json", "utf8"));
    const summaries = Object.values<Record<string, { summary: string }>>(document.paths).flatMap(
      (operations) => Object.values(operations).map(({ summary }) => summary),
    );
    const sidebar = page.getByRole("navigation").or(page.locator("aside")).first();
    await sidebar.getByText(summaries[0] ?? "").waitFor();
    const listed = (await sidebar.textContent()) ?? "";
    expect(summaries.filter((summary) => !listed.includes(summary))).toEqual([]);
  });

  it("tries a request against this server with the demo organization's client", async () => {
    await page.getByText("List the waiting rooms").first().click();
    await page.getByRole("button", { name: /Test Request.*get \/waiting_rooms\)/i }).click();
    const answered = page.waitForResponse((response) =>
      response.url().includes("/api/external/waiting_rooms"),
    );
    await page.getByRole("button", { name: /^Send/i }).first().click();
    const answer = await answered;
    expect(answer.status()).toBe(200);
    expect(await answer.json()).toMatchObject({ pagination: { total_count: 4 } });
    await page.getByText("demo-clinic--cardiology").first().waitFor();
  });

  it.each([
    ["external", "clientId & clientSecret"],
    ["platform", "platformToken"],
    ["livekit", "liveKitSignature"],
  ])("asks in the %s document only for its own credentials", async (slug, schemes) => {
    await page.goto("about:blank");
    await page.goto(`${server.url}/#${slug}`);
    await page.getByText(`Selected Auth Type: ${schemes}`).first().waitFor();
  });

  it("makes no requests to other hosts, and logs no errors", () => {
    expect([...hosts]).toEqual([new URL(server.url).host]);
    expect(complaints).toEqual([]);
  });
});
