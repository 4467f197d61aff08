import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-pool-workers";
import { defineConfig } from "vitest/config";

const migrations = await readD1Migrations("./drizzle");

export default defineConfig({
  test: {
    // The Worker's own log, a line for each request, would bury what the tests say.
    onConsoleLog: (line) => !line.startsWith('{"event":'),
    projects: [
      {
        plugins: [
          cloudflareTest({
            wrangler: { configPath: "./wrangler.toml" },
            miniflare: {
              bindings: {
                MIGRATIONS: migrations,
                PLATFORM_API_TOKEN: "test-platform-token",
                APP_URL: "https://app.test",
                INVITE_TOKEN_SECRET: "test-invite-secret-of-32-characters",
                RECORDINGS_S3_ENDPOINT: "/cdn-cgi/local/r2/s3",
                RECORDINGS_S3_ACCESS_KEY_ID: "local-access-key",
                RECORDINGS_S3_SECRET_ACCESS_KEY: "local-secret-key",
              },
            },
          }),
        ],
        test: {
          name: "worker",
          include: ["test/worker/**/*.test.ts"],
          setupFiles: ["test/worker/setup.ts"],
          // One Worker for all files: each test makes its own organization, so that sharing storage is harmless.
          isolate: false,
          maxWorkers: 1,
        },
      },
      { test: { name: "unit", include: ["test/unit/**/*.test.ts"] } },
      { test: { name: "project", include: ["test/project/**/*.test.ts"], testTimeout: 60_000 } },
      { test: { name: "e2e", include: ["test/e2e/**/*.test.ts"], testTimeout: 60_000, hookTimeout: 60_000 } },
    ],
  },
});
