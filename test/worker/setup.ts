import { applyD1Migrations, reset } from "cloudflare:test";
import { env } from "cloudflare:workers";

// All files share one Worker, which is fast; each begins with an empty database, so that looking at every row is too.
await reset();
await applyD1Migrations(env.DB, env.MIGRATIONS);
