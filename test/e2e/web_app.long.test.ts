import { createRequire } from "node:module";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { unstable_readConfig } from "wrangler";
import { startIdentityProvider } from "../../src/dev/identity_provider.ts";
import { startWebApp } from "../../src/dev/web_app/server.ts";
import { readSettings } from "../../src/settings.ts";
import { CHROMIUM, launchBrowser } from "./support/browser.ts";
import { devVars } from "./support/callers.ts";
import { anOrganization } from "./support/organization.ts";
import { registerIssuer } from "./support/sign_in.ts";

const server = inject("sharedServer");

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

describe("The web app of npm run dev", () => {
  let webApp: Awaited<ReturnType<typeof startWebApp>>;
  let clinic: Awaited<ReturnType<typeof anOrganization>>;
  let provider: { id: number; waiting_room_slug: string };

  beforeAll(async () => {
    const settings = readSettings({ ...unstable_readConfig({ config: "wrangler.toml" }).vars, ...devVars() });
    webApp = await startWebApp("http://localhost:0", { address: server.url, settings });
    clinic = await anOrganization(server.url);
    provider = await clinic.addUser("Paula", "provider");
    return () => webApp.stop();
  });

  const here = (link: string) => link.replace(/^https?:\/\/[^/]+/, webApp.url);

  async function aLink(participant: object = {}): Promise<string> {
    const visit = {
      waiting_room_slug: provider.waiting_room_slug,
      starts_at: new Date(Date.now() + 60_000).toISOString(),
      participants: [{ role: "recipient", display_name: "Rita <b>Recipient</b>", ...participant }],
    };
    const { status, body } = await clinic.external("POST", "/visits", { visit });
    expect(status, JSON.stringify(body)).toBe(201);
    return here(body.participants[0].join_url);
  }

  describe.skipIf(!CHROMIUM)("in a browser", () => {
    let launched: Promise<Browser> | undefined;
    afterAll(async () => (await launched)?.close());

    async function open(url: string, options: object = {}): Promise<Page> {
      launched ??= launchBrowser();
      const browser = await launched;
      const page = await (await browser.newContext(options)).newPage();
      await page.goto(url);
      return page;
    }

    const click = (page: Page, name: string) => page.getByRole("button", { name }).click();

    it("plays a visit, from a patient's link to the end of the call", async () => {
      const patient = await open(await aLink());
      const text = () => patient.innerText("main");
      expect(await text()).toContain("Rita <b>Recipient</b>, as recipient");
      expect(await text()).toContain(provider.waiting_room_slug);
      await click(patient, "wait");
      expect(await text()).toContain("waiting");
      const waiting = `/waiting_rooms/${provider.waiting_room_slug}/participants`;
      expect((await clinic.external("GET", waiting)).body.participants).toHaveLength(1);
      await click(patient, "join");
      const paula = await open(
        await aLink({ role: "provider", display_name: "Paula", user_id: provider.id }),
      );
      expect(await paula.innerText("main")).toContain("A real web app asks them to sign in first");
      await click(paula, "join");
      await click(patient, "leave");
      await click(paula, "leave");
      expect(await paula.innerText("main")).toContain("gone");
      const { body } = await clinic.external("GET", "/calls");
      const results = { transcript: "ready", soap_note: "ready", egresses: 1 };
      expect(body.calls[0]).toMatchObject({ organization_user_id: provider.id, is_ended: true, results });
      const path = `/organization_users/${provider.id}/calls/${body.calls[0].id}/egresses`;
      const { egresses } = (await clinic.external("GET", path)).body;
      const recording = await clinic.external("GET", `${path}/${egresses[0].id}`);
      expect((await (await fetch(recording.body.url)).arrayBuffer()).byteLength).toBe(egresses[0].size);
      const { events } = (await clinic.external("GET", "/events?per_page=100")).body;
      expect(events.map(({ type }: { type: string }) => type)).toEqual(
        expect.arrayContaining(["visit.started", "participant.waiting", "call.started", "call.ended"]),
      );
      expect(await patient.content()).not.toMatch(/development-\w+-token/);
    });

    it("records no call of somebody who does not consent", async () => {
      const patient = await open(await aLink());
      await patient.getByLabel("Consents to be recorded").uncheck();
      await click(patient, "join");
      await click(patient, "leave");
      expect(await patient.innerText("main")).not.toContain("Recorder: ");
      const [{ results }] = (await clinic.external("GET", "/calls")).body.calls;
      expect(results).toEqual({ transcript: "ready", soap_note: "ready", egresses: 0 });
    });

    it("lets a guest without a link wait under a name", async () => {
      const guest = await open(`${webApp.url}/meet/${provider.waiting_room_slug}`);
      await guest.getByLabel("Your name").fill("Gus");
      await click(guest, "wait");
      expect(await guest.innerText("main")).toContain("Gus, as recipient");
      await click(guest, "leave");
      expect(await guest.innerText("main")).toContain("gone");
    });

    it("accepts an invite after a click, and signs the person in with a code", async () => {
      const email = `ines-${Date.now()}@hillside.example`;
      const invite = { email, display_name: "Ines", role_names: ["provider"] };
      const { id } = (await clinic.external("POST", "/invites", { organization_invite: invite })).body;
      const { accept_url } = (await clinic.platform("GET", `${clinic.base}/invites/${id}`)).body;
      const invitee = await open(here(accept_url));
      expect((await clinic.external("GET", "/invites")).body.organization_invites).toHaveLength(1);
      await click(invitee, "Accept the invite");
      expect(await invitee.innerText("main")).toContain("Ines can sign in now");
      const identityProvider = await startIdentityProvider();
      try {
        await registerIssuer(clinic.platform, clinic.base, identityProvider);
        const token = await identityProvider.signIn(email);
        const { code } = (
          await clinic.external("POST", "/auth/token_exchange", { token_exchange: { token } })
        ).body;
        const login = `${webApp.url}/login?code=${code}&redirect=/meet/${provider.waiting_room_slug}`;
        const member = await open(login);
        expect(member.url()).toBe(`${webApp.url}/meet/${provider.waiting_room_slug}`);
        expect(await member.innerText("main")).toContain("Ines, as provider");
        expect(await (await open(login)).innerText("main")).toContain("Invalid code");
      } finally {
        await identityProvider.stop();
      }
    });

    it("has no fault that axe finds in light or dark, nor overflows a phone", async () => {
      for (const url of [await aLink(), `${webApp.url}/invites/accept?token=x`, `${webApp.url}/nowhere`]) {
        const page = await open(url, { viewport: { width: 390, height: 800 }, bypassCSP: true });
        await page.addScriptTag({ path: AXE });
        for (const colorScheme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme });
          const found = await page.evaluate(
            "axe.run().then(({ violations }) => violations.map(({ id }) => id))",
          );
          expect(found, `${url}, ${colorScheme}`).toEqual([]);
        }
        expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
      }
    });
  });

  it.each(["https://evil.example", "null"])("refuses a form of another origin: %s", async (Origin) => {
    const response = await fetch(await aLink(), { method: "POST", headers: { Origin }, body: "act=wait" });
    expect(response.status).toBe(403);
  });

  it("answers a link that is no more with the service's own words, without a script", async () => {
    const response = await fetch(`${webApp.url}/meet/${provider.waiting_room_slug}?visit=x.y.z`);
    expect(response.status).toBe(400);
    expect(response.headers.get("Content-Security-Policy")).toContain("default-src 'none'");
    expect(response.headers.get("Cache-Control")).toBe("no-store");
    expect(await response.text()).not.toContain("<script");
  });

  it("sends nobody to another site after a sign-in", async () => {
    const response = await fetch(`${webApp.url}/login?code=x&redirect=https://evil.example`, {
      redirect: "manual",
    });
    expect(response.status).toBe(400);
  });
});
