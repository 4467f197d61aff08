import { env } from "cloudflare:workers";
import { afterAll, afterEach, beforeEach } from "vitest";
import { kebabCase } from "../../src/database/slug.ts";
import { emptyStorage } from "./support/empty_storage.ts";
import { LEFT_OUT } from "./support/left_out.ts";
import { expectWebhooksAsDocumented } from "./support/webhooks.ts";

// All files share one Worker, which is fast. Each begins with an empty database, so that `everyRow` is fast too.
await emptyStorage();

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
