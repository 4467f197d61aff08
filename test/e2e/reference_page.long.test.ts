import { existsSync, readFileSync } from "node:fs";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from "vitest";
import { guideText } from "./support/guide.ts";

const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(
  existsSync,
);

if (!CHROMIUM)
  process.stdout.write("Skipped: the reference page is not opened, because Chromium is not installed.\n");

describe.skipIf(!CHROMIUM)("The reference page, in a real browser", () => {
  const server = inject("sharedServer");
  let browser: Browser;
  let page: Page;
  const hosts = new Set<string>();
  const complaints: string[] = [];

  beforeAll(async () => {
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
    await page.addInitScript({ path: "test/e2e/support/in_page.js" });
    page.on("request", (request) => hosts.add(new URL(request.url()).host));
    page.on("pageerror", ({ message }) => complaints.push(message));
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) complaints.push(message.text());
    });
  });

  beforeEach(async () => {
    await page.setViewportSize({ width: 1400, height: 900 });
    await page.emulateMedia({ colorScheme: "light" });
  });

  afterAll(() => browser?.close());

  /** The credentials of each. */
  const APIS = [
    ["external", "clientId & clientSecret"],
    ["platform", "platformToken"],
    ["livekit", "liveKitSignature"],
  ] as const;

  async function open(slug: string) {
    await page.goto("about:blank");
    await page.goto(`${server.url}/#${slug}`);
    await page.locator(".introduction-section h1").nth(1).waitFor();
  }

  it("lists the operations of the external API", async () => {
    await open("external");
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
    await open("external");
    await page.getByText("List the waiting rooms").first().click();
    await page.getByRole("button", { name: /Test Request.*get \/waiting_rooms\)/i }).click();
    const answered = page.waitForResponse((response) =>
      response.url().includes("/api/external/waiting_rooms"),
    );
    await page.getByRole("button", { name: /^Send/i }).first().click();
    const answer = await answered;
    // Nothing that the reader did not ask for.
    expect(answer.url()).toBe(`${server.url}/api/external/waiting_rooms`);
    expect(Object.keys(answer.request().headers())).not.toContain("x-d1-bookmark");
    expect(answer.status()).toBe(200);
    expect(await answer.json()).toMatchObject({ pagination: { total_count: 4 } });
    await page.getByText("demo-clinic--cardiology").first().waitFor();
  });

  it.each(APIS)("shows every guide of the %s document, and asks only for %s", async (slug, schemes) => {
    await open(slug);
    await page.getByText(`Selected Auth Type: ${schemes}`).first().waitFor();
    const guides = [
      ...guideText(slug)
        .replace(/```[\s\S]*?```/g, "")
        .matchAll(/^# (.*)$/gm),
    ].map(([, title]) => title);
    const headings = await page.locator(".introduction-section .markdown h1").allTextContents();
    expect(headings.map((heading) => heading.trim())).toEqual(guides);
    const listed = await page.locator("aside").first().innerText();
    expect(guides.filter((title = "") => !listed.includes(title))).toEqual([]);
  });

  it("goes where the links in the guides point", async () => {
    await open("external");
    const links = page.locator('.introduction-section .markdown a[href^="#"]');
    const targets = [...new Set(await links.evaluateAll((all) => all.map((a) => a.getAttribute("href"))))];
    expect(targets.length).toBeGreaterThan(4);
    for (const target of targets) {
      const link = page.locator(`.introduction-section .markdown a[href="${target}"]`).first();
      // What is above the target may still be drawn after the click, and move it away. Then a reader clicks again.
      const follow = async () => {
        await link.click();
        await page.waitForTimeout(500);
        return page.evaluate<number | null>(`inPage.topOf(${JSON.stringify(target?.slice(1))})`);
      };
      await expect
        .poll(follow, { timeout: 100_000 })
        .toSatisfy((top: number | null) => top !== null && top > -100 && top < 300);
    }
  });

  it("has this server's address in the guides, whatever its port", async () => {
    await open("external");
    const commands = await page.locator(".introduction-section pre").allInnerTexts();
    expect(commands.join("\n")).toContain(`API=${server.url}/api/external\n`);
  });

  it("shows each example of an error, to its end", async () => {
    await open("external/tag/webhook-endpoints/POST/webhook_endpoints");
    const operation = page.locator('[id="external/tag/webhook-endpoints/POST/webhook_endpoints"]');
    await operation.getByRole("tab", { name: "429" }).click();
    await operation.locator(".response-example-selector").click();
    await page.getByRole("option", { name: /^Too many requests with missing or wrong/ }).click();
    const example = operation.locator("pre").last();
    await example.getByText("try again in 60 seconds").waitFor();
    const [text, whole] = await Promise.all([example.boundingBox(), operation.boundingBox()]);
    const rightOf = (box: typeof text) => (box ? box.x + box.width : Number.NaN);
    expect(rightOf(text)).toBeLessThanOrEqual(rightOf(whole));
    expect(await example.evaluate((pre) => pre.scrollWidth - pre.clientWidth)).toBe(0);
  });

  it("offers to try operations, but not webhooks, which the reader's own server receives", async () => {
    await open("external/tag/webhook-deliveries/webhook/POST/ping");
    const buttons = page.locator('[id*="/webhook/POST/ping"] .show-api-client-button');
    await buttons.first().waitFor({ state: "attached" });
    expect(await buttons.first().isVisible()).toBe(false);
  });

  it("has light text on a dark page for readers who prefer that", async () => {
    const lightness = () => page.evaluate<{ text: number; page: number }>("inPage.lightness()");
    await page.emulateMedia({ colorScheme: "dark" });
    await open("external");
    const dark = await lightness();
    await page.emulateMedia({ colorScheme: "light" });
    await open("external");
    const light = await lightness();
    expect(dark.text - dark.page).toBeGreaterThan(150);
    expect(light.page - light.text).toBeGreaterThan(150);
  });

  it.each(APIS)(
    "on a phone does not scroll sideways, and breaks no word of a table in two, in the %s document",
    async (slug) => {
      await page.setViewportSize({ width: 390, height: 844 });
      await open(slug);
      expect(await page.evaluate("inPage.widthOfAll()")).toEqual({ width: 390, cutOff: [] });
      expect(await page.evaluate("inPage.brokenWords()")).toEqual([]);
    },
  );

  it("makes no requests to other hosts, and logs no errors", () => {
    expect([...hosts]).toEqual([new URL(server.url).host]);
    expect(complaints).toEqual([]);
  });
});
