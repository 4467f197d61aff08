import { applyD1Migrations, reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach } from "vitest";
import { expectWebhooksAsDocumented } from "./support/webhooks.ts";

// All files share one Worker, which is fast. Each begins with an empty database, so that `everyRow` is fast too.
await reset();
await applyD1Migrations(env.DB, env.MIGRATIONS);

afterEach(expectWebhooksAsDocumented);
