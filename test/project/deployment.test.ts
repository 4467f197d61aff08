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
    const { PLATFORM_API_TOKEN, INVITE_TOKEN_SECRET, DIGEST_SECRET, LIVEKIT_API_SECRET, AUDIT_SIGNING_KEY } =
      example;
    const { PLATFORM_REPORTS_TOKEN, PLATFORM_WEB_APP_TOKEN } = example;
    const secrets = [
      DEMO_CLIENT.client_secret,
      PLATFORM_API_TOKEN,
      PLATFORM_REPORTS_TOKEN,
      PLATFORM_WEB_APP_TOKEN,
      INVITE_TOKEN_SECRET,
      DIGEST_SECRET,
      LIVEKIT_API_SECRET,
      JSON.parse(AUDIT_SIGNING_KEY ?? "").d,
    ];
    const files = readdirSync(PUBLIC_ASSETS, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    expect(files).toContain(join(PUBLIC_ASSETS, "index.html"));
    for (const file of files)
      for (const secret of secrets)
        expect(readFileSync(file, "utf8").includes(secret ?? ""), file).toBe(false);
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
    expect(configuration.ratelimits.map(({ name, simple }) => [name, simple])).toEqual([
      ["CLIENT_LIMIT", { limit: settings.CLIENT_LIMIT_PER_MINUTE, period: 60 }],
      ["ORGANIZATION_LIMIT", { limit: settings.ORGANIZATION_LIMIT_PER_MINUTE, period: 60 }],
      ["BULK_INVITE_LIMIT", { limit: settings.BULK_INVITE_LIMIT_PER_MINUTE, period: 60 }],
      ["REDELIVERY_LIMIT", { limit: settings.REDELIVERY_LIMIT_PER_MINUTE, period: 60 }],
      ["ACCESS_LOG_LIMIT", { limit: settings.ACCESS_LOG_LIMIT_PER_MINUTE, period: 60 }],
      ["FAILURE_LIMIT", { limit: settings.FAILURE_LIMIT_PER_MINUTE, period: 60 }],
    ]);
  });

  it("writes a log, but without the platform's own lines, whose URLs can contain names and tokens", () => {
    expect(config.observability).toMatchObject({ enabled: true, logs: { invocation_logs: false } });
  });
});
