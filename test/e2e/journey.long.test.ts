import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, inject, it, onTestFinished } from "vitest";
import { loadDemoOrganization } from "../../src/dev/demo_organization.ts";
import { withLocalBindings } from "../../src/dev/local_bindings.ts";
import { startDevServer } from "./support/dev_server.ts";
import { rowsIn, tablesIn, withDatabases } from "./support/local_databases.ts";
import { npmRun } from "./support/server.ts";

const server = inject("sharedServer");

async function asTheCurlLineDoes({ curl }: { curl: string }) {
  const [, file = "", url = ""] = /-K (\S+) (http:\S+)$/.exec(curl) ?? [];
  const headers = [...readFileSync(file, "utf8").matchAll(/^header = "([^:]+): ([^"]+)"$/gm)];
  const response = await fetch(url, {
    headers: headers.map(([, name = "", value = ""]): [string, string] => [name, value]),
  });
  return {
    status: response.status,
    body: (await response.json()) as { pagination: { total_count: number } },
  };
}

describe("A newcomer", () => {
  it("starts the server with one command, and the curl line that it prints works", async () => {
    const { status, body } = await asTheCurlLineDoes(server);
    expect(status).toBe(200);
    // The tests of the guides use the same server, and create more.
    expect(body.pagination.total_count).toBeGreaterThanOrEqual(3);
  });

  it("tours the product with another command", async () => {
    const { code, output } = await npmRun("demo", "--", server.url);
    expect(output).toMatch(/The room cannot be retired yet +→ 422/);
    expect(output).toMatch(/with valid signatures +→ ping, call\.started, call\.ended\n/);
    expect(output).toMatch(/Her client is revoked +→ 401/);
    const lines = output.split("\n");
    expect(lines.length).toBeLessThan(120);
    expect(lines.filter((line) => line.length > 105 && !line.startsWith("oidc-provider"))).toEqual([]);
    expect(output).not.toMatch(/→ 5\d\d/);
    expect(code).toBe(0);
  });

  it("finds the same demo organization after restarting the server", async () => {
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
    expect(await asTheCurlLineDoes(ready)).toMatchObject({ body: { pagination: { total_count: 3 } } });
  });
});
