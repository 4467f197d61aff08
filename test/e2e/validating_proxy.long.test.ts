import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { anOrganization } from "./support/organization.ts";
import { startPrism } from "./support/prism.ts";
import { npmRun } from "./support/server.ts";

let folder: string;
let prism: Awaited<ReturnType<typeof startPrism>>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "prism-"));
  prism = await startPrism(inject("sharedServer").url, folder);
});

afterAll(() => {
  prism?.stop();
  rmSync(folder, { recursive: true });
});

it("A validating proxy finds nothing wrong in a walk through the whole product", async () => {
  const { code, output } = await npmRun("demo", "--", prism.url, "--verbose");
  expect(code, output).toBe(0);
  expect(output).toMatch(
    /^ +POST \/api\/platform\/organizations\n +\{\n[\s\S]*? +→ 201\n +\{\n +"id": \d+,$/m,
  );
  expect(prism.found).toEqual([]);
  expect(prism.compared()).toBeGreaterThan(60);
  // It does look: the walk has requests that are to be refused.
  expect(prism.refused()).toBeGreaterThan(0);
});

it("A validating proxy takes every address that the service takes, and answers with", async () => {
  const { external } = await anOrganization(prism.url);
  for (const email of [
    "a..b@example.com",
    ".a@example.com",
    `${"a".repeat(65)}@example.com`,
    " Ä@example.com",
  ]) {
    const invite = { email, display_name: "Ines", role_names: ["provider"] };
    const { status } = await external("POST", "/invites", { organization_invite: invite });
    expect(status).toBe(email.includes("Ä") ? 422 : 201);
  }
  expect((await external("GET", "/invites")).body.organization_invites).toHaveLength(3);
  const url = "https://münchen.example/a b";
  expect((await external("POST", "/webhook_endpoints", { webhook_endpoint: { url } })).status).toBe(201);
  expect(prism.found).toEqual([]);
});
