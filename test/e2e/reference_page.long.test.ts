import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { gzipSync } from "node:zlib";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from "vitest";
import { CHROMIUM, launchBrowser } from "./support/browser.ts";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

const PHONE = { width: 390, height: 844 };
const DESKTOP = { width: 1440, height: 900 };

const ALL = readdirSync("dist/public", { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".html"))
  .map((file) => `/${file.replaceAll("\\", "/").replace(/(index)?\.html$/, "")}`);

/** One page of each kind. */
const SOME = [
  "/",
  "/external/guides/first-request",
  "/external/guides/errors",
  "/external/reference/invites",
  "/external/reference/invites/create-invite",
  "/external/reference/webhook-deliveries/on-call-ended",
  "/platform/reference/calls/report-call",
  "/external/reference/every-operation",
  "/404",
];

describe.skipIf(!CHROMIUM)("The reference, in a real browser", () => {
  const server = inject("sharedServer");
  let browser: Browser;
  const hosts = new Set<string>();
  const complaints: string[] = [];

  beforeAll(async () => {
    browser = await launchBrowser();
  });

  afterEach(async () => {
    for (const context of browser.contexts()) await context.close();
    expect([...hosts], "requests to other hosts").toEqual([new URL(server.url).host]);
    expect(complaints.splice(0)).toEqual([]);
  });

  afterAll(() => browser?.close());

  type Options = Parameters<Browser["newContext"]>[0];

  async function aReader(options: Options = {}): Promise<{ page: Page; context: BrowserContext }> {
    const context = await browser.newContext({ viewport: DESKTOP, baseURL: server.url, ...options });
    await context.addInitScript({ path: "test/e2e/support/in_page.js" });
    await context.addInitScript({ path: AXE });
    const page = await context.newPage();
    page.on("request", (request) => hosts.add(new URL(request.url()).host));
    page.on("pageerror", ({ message }) => complaints.push(message));
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) complaints.push(message.text());
    });
    return { page, context };
  }

  /** The faults that axe-core finds: violations of WCAG 2.2 AA and of its own best practices. */
  const faultsOf = (page: Page, rules: object = {}) =>
    page.evaluate<unknown[]>(
      `axe.run(${JSON.stringify({ resultTypes: ["violations"], rules })})
        .then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))`,
    );

  it("has no accessibility faults on any page, fits on a phone, breaks no word of a table in two, and is short", {
    timeout: 900_000,
  }, async () => {
    expect(ALL.length).toBeGreaterThan(150);
    // Pages of a kind have the same colours, and comparing them takes most of the time.
    const rules = { "color-contrast": { enabled: false } };
    const longOperations: string[] = [];
    const check = async (paths: string[]) => {
      const { page } = await aReader();
      for (const path of paths) {
        await page.setViewportSize(DESKTOP);
        await page.goto(path);
        expect(await faultsOf(page, rules), path).toEqual([]);
        const height = await page.evaluate<number>("document.documentElement.scrollHeight");
        if (height > 4000 && /\/reference\/[^/]+\/[^/]+$/.test(path)) longOperations.push(path);
        await page.setViewportSize(PHONE);
        const onPhone = await page.evaluate("[document.documentElement.scrollWidth, inPage.brokenWords()]");
        expect(onPhone, path).toEqual([PHONE.width, []]);
      }
    };
    await Promise.all([0, 1].map((half) => check(ALL.filter((_, n) => n % 2 === half))));
    expect(longOperations.length).toBeLessThanOrEqual(5);
  });

  it.each(SOME)("has no such faults in light or dark, on a desktop or a phone: %s", async (path) => {
    const { page } = await aReader();
    await page.goto(path);
    for (const colorScheme of ["light", "dark"] as const)
      for (const viewport of [DESKTOP, PHONE]) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize(viewport);
        expect(await faultsOf(page), `${colorScheme}, ${viewport.width} px`).toEqual([]);
      }
  });

  it("has light text on a dark page for readers who prefer or choose that", async () => {
    const contrastOf = async (page: Page) =>
      page.evaluate<number>("inPage.lightnessOfText() - inPage.lightnessOfPage()");
    const { page: dark } = await aReader({ colorScheme: "dark" });
    await dark.goto("/external/guides/errors");
    expect(await contrastOf(dark)).toBeGreaterThan(150);
    const { page } = await aReader();
    await page.goto("/external/guides/errors");
    expect(await contrastOf(page)).toBeLessThan(-150);
    await page.getByRole("button", { name: "Dark or light" }).click();
    expect(await contrastOf(page)).toBeGreaterThan(150);
    await page.goto("/external/guides/webhooks");
    expect(await contrastOf(page)).toBeGreaterThan(150);
  });

  it.each([
    ["429", /Errors, retries and limits/],
    ["sso", /Sign people in/],
    ["timezone", /Pagination, dates and consistency/],
    ["python", /Generate a client|Your first request/],
    ["no-show", /Plan a visit/],
    ["HIPAA", /Where data lie and who may see them/],
    ["GDPR", /Where data lie and who may see them/],
    ["sandbox", /Your first request/],
    ["idempotency", /Retry safely with an idempotency key/],
    ["rotate secret", /Rotate the secret of a webhook endpoint/],
    ["rotatte secrt", /Rotate the secret of a webhook endpoint/],
    ["/invites/{id}/resend", /Send an invite again/],
  ])("finds %s with only the keyboard, and opens it", async (words, expected) => {
    const { page } = await aReader();
    await page.goto("/");
    await page.keyboard.press("/");
    await page.getByRole("searchbox").waitFor();
    await page.keyboard.type(words);
    const hits = page.locator("dialog li a");
    await expect.poll(async () => (await hits.allInnerTexts()).slice(0, 3).join("\n")).toMatch(expected);
    await expect.poll(() => hits.first().locator("span").innerText()).toMatch(/\w+ \w+/);
    const target = await hits.first().getAttribute("href");
    await page.keyboard.press("Enter");
    await page.waitForURL(`**${target}`);
  });

  it("opens the search at once, finds what was typed before the index arrived, and keeps it", async () => {
    const { page } = await aReader();
    let release = () => {};
    const isReleased = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route("**/search.json", async (route) => {
      await isReleased;
      await route.continue();
    });
    await page.goto("/");
    await page.keyboard.press("/");
    await page.keyboard.type("legal hold");
    expect(await page.getByRole("searchbox").inputValue()).toBe("legal hold");
    const hits = page.locator("dialog li a");
    expect(await hits.count()).toBe(0);
    release();
    await expect.poll(() => hits.count()).toBeGreaterThan(3);
    expect(await faultsOf(page)).toEqual([]);
    await page.goto("/external/guides/errors");
    await page.keyboard.press("/");
    expect(await page.getByRole("searchbox").inputValue()).toBe("legal hold");
    await expect.poll(() => hits.count()).toBeGreaterThan(3);
  });

  it("sends the example of an operation, as the reader edits it, with the demo's credentials", async () => {
    const { page } = await aReader();
    await page.goto("/external/reference/waiting-rooms/list-waiting-rooms");
    await page.getByText("Try it").click();
    await page.getByLabel("Path").fill("/api/external/waiting_rooms?per_page=1");
    expect(await faultsOf(page)).toEqual([]);
    await page.getByRole("button", { name: "Send" }).click();
    await expect.poll(() => page.locator("output").innerText()).toBe("200 OK");
    expect(await page.locator(".try pre").innerText()).toMatch(/x-request-id: [\s\S]*"waiting_rooms": \[/);
  });

  it("answers a missing page with a page, and still answers what belongs to the service", async () => {
    const { page } = await aReader();
    const missing = await page.goto("/external/reference/no-such-page");
    expect(missing?.status()).toBe(404);
    expect(await page.getByRole("heading", { level: 1 }).innerText()).toBe("There is no such page");
    // The browser reports the status itself.
    complaints.splice(0);
    const refused = await page.goto("/api/external/no_such_path");
    expect([refused?.status(), await refused?.json()]).toEqual([401, { error: expect.any(String) }]);
    complaints.splice(0);
    expect((await page.goto("/health"))?.status()).toBe(200);
  });

  it("loads little for its search before the first result, compressed", async () => {
    const { page } = await aReader();
    await page.goto("/");
    await page.waitForLoadState("networkidle");
    const sent: number[] = [];
    page.on("response", async (response) => {
      if (/\.js(on)?$/.test(response.url())) sent.push(gzipSync(await response.body()).length);
    });
    await page.keyboard.press("/");
    await page.keyboard.type("invite");
    await expect.poll(() => page.locator("dialog li a").count()).toBeGreaterThan(0);
    const beforeFirstResult = sent.reduce((sum, size) => sum + size, 0);
    expect(beforeFirstResult).toBeGreaterThan(10 * 1024);
    expect(beforeFirstResult).toBeLessThanOrEqual(60 * 1024);
    expect(readFileSync("dist/public/llms-full.txt").length).toBeLessThanOrEqual(600 * 1024);
  });

  it("shows a request with curl, with the package or in Python, as the reader chose on an earlier page", async () => {
    const { page } = await aReader();
    await page.goto("/external/reference/invites/create-invite");
    const sample = page.locator("figure.code").first();
    await expect.poll(() => sample.innerText()).toMatch(/curl -K client\.curl/);
    await page.getByRole("button", { name: "JavaScript" }).first().click();
    const shown = page.locator("figure.code:visible").first();
    expect(await shown.innerText()).toMatch(/visits\.createInvite\(/);
    await page.goto("/external/guides/inviting");
    expect(await shown.innerText()).toMatch(/visits\.createInvite\(/);
    await page.getByRole("button", { name: "Python" }).first().click();
    expect(await shown.innerText()).toMatch(/send\(/);
  });

  it("copies a sample with this server's address, whatever its port", async () => {
    const { page, context } = await aReader();
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.goto("/external/reference/waiting-rooms/list-waiting-rooms");
    await page.getByRole("button", { name: "Copy" }).first().click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    const copied = await page.evaluate<string>("navigator.clipboard.readText()");
    expect(copied).toBe(`curl -K client.curl "${server.url}/api/external/waiting_rooms"`);
  });

  it("shows the same without scripts", async () => {
    const { page } = await aReader({ javaScriptEnabled: false });
    await page.goto("/external/reference/invites/create-invite");
    expect(await page.locator("main").innerText()).toMatch(
      /curl -K[\s\S]*With the package:[\s\S]*createInvite/,
    );
    await page.getByRole("link", { name: "Next" }).click();
    await page.waitForURL("**/external/reference/invites/**");
  });
});
