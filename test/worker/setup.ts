import { applyD1Migrations, reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterAll, afterEach } from "vitest";
import { kebabCase } from "../../src/database/slug.ts";
import { expectWebhooksAsDocumented } from "./support/webhooks.ts";

// All files share one Worker, which is fast. Each begins with an empty database, so that `everyRow` is fast too.
await reset();
await applyD1Migrations(env.DB, env.MIGRATIONS);

// The Worker loads a library with its first slug. In Vitest, unlike in the bundle, requests that load it at once would wait
// for each other, which they cannot.
await kebabCase("The first", "slug");

// The Worker's line for each request would bury the others, and Vitest takes long to receive so many.
const { log } = console;
console.log = (...said: unknown[]) => {
  if (!String(said[0]).startsWith('{"event":"request"')) log(...said);
};
afterAll(() => {
  console.log = log;
});

afterEach(expectWebhooksAsDocumented);
