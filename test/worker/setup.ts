import { applyD1Migrations, reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterAll, afterEach, beforeEach } from "vitest";
import { kebabCase } from "../../src/database/slug.ts";
import { RECORDED_PARTICIPANTS } from "../support/recorded_participants.ts";
import { LEFT_OUT } from "./support/left_out.ts";
import { makeShard } from "./support/make_shard.ts";
import { expectWebhooksAsDocumented } from "./support/webhooks.ts";

// All files share one Worker, which is fast. Each begins with an empty database, so that `everyRow` is fast too.
await reset();
// `reset` has left files behind. Organizations get the same ids again, so the file of an earlier sealed day would be in the way.
const sealed = await env.AUDIT_LOGS.list();
await env.AUDIT_LOGS.delete(sealed.objects.map(({ key }) => key));
await applyD1Migrations(env.DIRECTORY ?? env.DB, env.MIGRATIONS);
if (env.DIRECTORY) await makeShard(env.DIRECTORY, env.DB, 1, env.MIGRATIONS);
await env.DB.batch(RECORDED_PARTICIPANTS.map((each) => env.DB.prepare(each)));

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

beforeEach(({ task, skip }) => {
  const name = [task.suite?.name, task.name].filter(Boolean).join(" > ");
  if (env.DIRECTORY && LEFT_OUT.some((each) => name.startsWith(each) && !name.startsWith(`${each}/`)))
    skip("looks past the API into the directory");
});

afterEach(expectWebhooksAsDocumented);
