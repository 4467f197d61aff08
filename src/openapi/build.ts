/**
 * `npm run build`: makes the static assets (the OpenAPI documents and the page that shows them) and the types for a
 * client. None of it is in the Worker's bundle.
 */
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { parseEnv } from "node:util";
import openapiTS, { astToString, type OpenAPI3 } from "openapi-typescript";
import { DEMO_CLIENT } from "../dev/demo_organization.ts";
import { buildDocument } from "./document.ts";
import type { Door } from "./doors.ts";

const ASSETS = "dist/public";
const PAGE = join(import.meta.dirname, "page");

for (const file of await readdir(PAGE)) await put(join(ASSETS, file), await readFile(join(PAGE, file)));
await put(join(ASSETS, "scalar.js"), await readFile(scalarScript()));
await put(
  join(ASSETS, "development_credentials.js"),
  `window.developmentCredentials = ${JSON.stringify(await developmentCredentials(), null, 2)};\n`,
);
for (const door of ["external", "platform"] satisfies Door[]) {
  const document = buildDocument(door);
  await put(join(ASSETS, "api", door, "openapi.json"), `${JSON.stringify(document, null, 2)}\n`);
  const types = await openapiTS(document as OpenAPI3);
  await put(join("dist/client", `${door}.d.ts`), astToString(types));
}

/** Does not touch a file that is up to date: a running server would reload. */
async function put(path: string, content: string | Buffer) {
  const wanted = Buffer.from(content);
  const there = await readFile(path).catch(() => null);
  if (there?.equals(wanted)) return;
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, wanted);
}

/** Public credentials that work only on a developer's own machine, for trying requests from the page. */
async function developmentCredentials() {
  const { PLATFORM_API_TOKEN } = parseEnv(await readFile(".dev.vars.example", "utf8"));
  return {
    clientId: { value: DEMO_CLIENT.client_id },
    clientSecret: { value: DEMO_CLIENT.client_secret },
    platformToken: { token: PLATFORM_API_TOKEN },
  };
}

function scalarScript() {
  const entry = createRequire(import.meta.url).resolve("@scalar/api-reference");
  return join(dirname(entry), "browser", "standalone.js");
}
