/**
 * Makes the static assets (the OpenAPI documents and the page that shows them), the client package and SDKs. None of it
 * is in the Worker's bundle.
 */
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { parseEnv } from "node:util";
import { DEMO_CLIENT } from "../dev/demo_organization.ts";
import { API_NAMES, type Api } from "./apis.ts";
import { CLIENTS, DEVELOPMENT_ASSETS, PUBLIC_ASSETS } from "./assets.ts";
import { buildDocument } from "./document.ts";
import { DEVELOPMENT_URL, introductionOf } from "./info.ts";

const PAGE = join(import.meta.dirname, "page");

type Assets = Map<string, string | Buffer>;

// Public credentials, which work only on a developer's own machine: for trying requests from the page and the guides.
const development = {
  CLIENT_ID: DEMO_CLIENT.client_id,
  CLIENT_SECRET: DEMO_CLIENT.client_secret,
  PLATFORM_API_TOKEN: parseEnv(await readFile(".dev.vars.example", "utf8")).PLATFORM_API_TOKEN ?? "",
};

export async function generate({ withSdk }: { withSdk: boolean }) {
  const assets: Assets = new Map();
  for (const file of await readdir(PAGE)) assets.set(file, await readFile(join(PAGE, file)));
  assets.set("scalar.js", await readFile(scalarScript()));
  const documents = API_NAMES.map((api) => [api, buildDocument(api)] as const);
  for (const [api, document] of documents) {
    assets.set(join("api", api, "openapi.json"), asJson(document));
    if (withSdk) await generateClient(api, document);
  }
  await putAll(PUBLIC_ASSETS, assets);
  assets.set("reference.js", `${settingsForPage()}${assets.get("reference.js")}`);
  for (const [api, document] of documents)
    assets.set(
      join("api", api, "openapi.json"),
      asJson({ ...document, ...introductionOf(api, { development }) }),
    );
  await putAll(DEVELOPMENT_ASSETS, assets);
}

/** For organizations a package, and for the others what a generator makes. */
async function generateClient(api: Api, document: ReturnType<typeof buildDocument>) {
  const folder = join(CLIENTS, api);
  if (api !== "external") await (await import("./sdk.ts")).generateSdk(document, folder);
  else await putAll(folder, await (await import("./client_package.ts")).clientPackage(document));
}

function asJson(document: object) {
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** Puts all assets into a folder, and nothing else: what an earlier build left must not be deployed. */
async function putAll(folder: string, assets: Assets) {
  for (const [file, content] of assets) await put(join(folder, file), content);
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !assets.has(relative(folder, path))) await rm(path, { force: true });
  }
}

/** Does not touch a file that is up to date: a running server would reload. */
async function put(path: string, content: string | Buffer) {
  const wanted = Buffer.from(content);
  const there = await readFile(path).catch(() => null);
  if (there?.equals(wanted)) return;
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, wanted);
}

/** Lines for the page: the credentials to fill in, and the address in the guides. */
function settingsForPage() {
  const credentials = {
    clientId: { value: development.CLIENT_ID },
    clientSecret: { value: development.CLIENT_SECRET },
    platformToken: { token: development.PLATFORM_API_TOKEN },
  };
  return `window.developmentCredentials = ${JSON.stringify(credentials, null, 2)};
window.developmentServer = ${JSON.stringify(DEVELOPMENT_URL)};\n`;
}

function scalarScript() {
  const entry = createRequire(import.meta.url).resolve("@scalar/api-reference");
  return join(dirname(entry), "browser", "standalone.js");
}
