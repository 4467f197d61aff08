import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { describe, expect, it } from "vitest";
import { unstable_readConfig } from "wrangler";
import { PUBLIC_ASSETS } from "../../src/reference/assets.ts";
import { DEMO_CLIENT } from "../../src/reference/demo_client.ts";
import { type Configuration, configuration, requireSameLimits } from "../../src/reference/operator.ts";
import { readSettings, requireOwnSecrets } from "../../src/settings.ts";

const example = parseEnv(readFileSync(".dev.vars.example", "utf8"));

type RateLimit = Configuration["ratelimits"][number];

const config = unstable_readConfig({ config: "wrangler.toml" });

describe("The deployment", () => {
  it("has no development credentials in its assets", () => {
    expect(config.assets?.directory).toBe(PUBLIC_ASSETS);
    const named = Object.entries(example).filter(([name]) => /(TOKEN|SECRET)$/.test(name));
    expect(named.length).toBeGreaterThanOrEqual(6);
    const { d } = JSON.parse(example.AUDIT_SIGNING_KEY ?? "");
    const secrets = [...named.map(([, secret = ""]) => secret), DEMO_CLIENT.client_secret, d];
    const files = readdirSync(PUBLIC_ASSETS, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    expect(files).toContain(join(PUBLIC_ASSETS, "index.html"));
    for (const file of files)
      for (const secret of secrets) expect(readFileSync(file, "utf8").includes(secret), file).toBe(false);
  });

  it("refuses the secrets of .dev.vars.example, except on a developer's machine", () => {
    const settings = readSettings({ ...config.vars, ...example });
    expect(() => requireOwnSecrets(settings, "https://visits.example/api/platform/invites/1")).toThrow(
      /^PLATFORM_API_TOKEN and PLATFORM_REPORTS_TOKEN and PLATFORM_WEB_APP_TOKEN and INVITE_TOKEN_SECRET and DIGEST_SECRET and LIVEKIT_API_SECRET and AUDIT_SIGNING_KEY /,
    );
    expect(() => requireOwnSecrets(settings, "http://localhost:8787/api/platform/invites/1")).not.toThrow();
  });

  it("says of a missing setting that it is not set, and of a wrong one what it must be", () => {
    const unset = { ...config.vars, ...example, APP_URL: " ", LIVEKIT_API_SECRET: "" };
    expect(() => readSettings(unset)).toThrow(/^Invalid settings: APP_URL is not set\./);
    expect(() => readSettings({ ...unset, APP_URL: "https://app.example" })).toThrow(
      "Invalid settings: LIVEKIT_API_SECRET must be set too, because LIVEKIT_API_KEY is.",
    );
  });

  it("documents the limits that it enforces, or is not built", () => {
    const [first, ...others] = configuration.ratelimits as [RateLimit, ...RateLimit[]];
    const withFirst = (simple: object) => ({
      ratelimits: [{ ...first, simple: { ...first.simple, ...simple } }, ...others],
    });
    const withVars = (vars: object) => ({ vars: { ...configuration.vars, ...vars } });
    expect(() => requireSameLimits(configuration)).not.toThrow();
    for (const change of [
      withFirst({ limit: 7 }),
      withFirst({ period: 10 }),
      withVars({ FAILURE_LIMIT_PER_MINUTE: "7" }),
      withVars({ CLIENT_LIMIT_PER_MINUTE: undefined }),
    ])
      expect(() => requireSameLimits({ ...configuration, ...change })).toThrow("must be the same number");
    // wrangler reads the same values as the build.
    const settings = readSettings({ ...config.vars, ...example });
    expect(configuration.ratelimits).toHaveLength(6);
    for (const { name, simple } of configuration.ratelimits)
      expect(simple).toEqual({ limit: settings[`${name}_PER_MINUTE` as keyof typeof settings], period: 60 });
  });

  it("writes a log, but without the platform's own lines, whose URLs can contain names and tokens", () => {
    expect(config.observability).toMatchObject({ enabled: true, logs: { invocation_logs: false } });
  });
});
