/**
 * Generates the static assets (the OpenAPI documents and the pages of the reference), the client package and the SDKs, none of
 * which is in the Worker's bundle; and the versions of libraries that are.
 */
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { parseEnv } from "node:util";
import { API_NAMES, type Api } from "./apis.ts";
import { CLIENTS, DEVELOPMENT_ASSETS, PUBLIC_ASSETS, WORKER_TRANSLITERATE, WORKER_ZOD } from "./assets.ts";
import { DEMO_CLIENT } from "./demo_client.ts";
import { buildDocument } from "./document.ts";
import { type Choices, introductionOf } from "./info.ts";
import { postmanCollection } from "./postman.ts";
import type { Document } from "./site/openapi.ts";
import { type Files, siteOf } from "./site/site.ts";
import { workerTransliterate, workerZod } from "./worker_libraries.ts";

// Public credentials that work only on a developer's own machine, to try the requests in the guides.
const development = {
  CLIENT_ID: DEMO_CLIENT.client_id,
  CLIENT_SECRET: DEMO_CLIENT.client_secret,
  PLATFORM_API_TOKEN: parseEnv(await readFile(".dev.vars.example", "utf8")).PLATFORM_API_TOKEN ?? "",
};

export async function generate({ withSdk }: { withSdk: boolean }) {
  const documents = new Map(API_NAMES.map((api) => [api, buildDocument(api)]));
  await putAll(PUBLIC_ASSETS, assetsOf(documents));
  await putAll(WORKER_ZOD, await workerZod());
  await putAll(WORKER_TRANSLITERATE, await workerTransliterate());
  await putAll(DEVELOPMENT_ASSETS, assetsOf(documents, { development }));
  if (withSdk) for (const [api, document] of documents) await generateClient(api, document);
}

type Documents = Map<Api, ReturnType<typeof buildDocument>>;

function assetsOf(documents: Documents, choices: Choices = {}): Files {
  const assets = siteOf(documents, choices);
  for (const [api, document] of documents) {
    assets.set(join("api", api, "openapi.json"), asJson({ ...document, ...introductionOf(api, choices) }));
    const collection = asJson(postmanCollection(api, document as object as Document));
    assets.set(join("api", api, "postman.json"), collection);
  }
  return assets;
}

async function generateClient(api: Api, document: ReturnType<typeof buildDocument>) {
  const folder = join(CLIENTS, api);
  if (api !== "external") await (await import("./sdk.ts")).generateSdk(document, folder);
  else await putAll(folder, await (await import("./client_package.ts")).clientPackage(document));
}

function asJson(document: object) {
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** Writes the assets to a folder, and deletes other files in it: leftovers of an earlier build must not be deployed. */
async function putAll(folder: string, assets: Files) {
  for (const [file, content] of assets) await put(join(folder, file), content);
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !assets.has(relative(folder, path))) await rm(path, { force: true });
  }
}

/** Skips a file that is up to date, because writing it would make a running server reload. */
async function put(path: string, content: string | Buffer) {
  const wanted = Buffer.from(content);
  const there = await readFile(path).catch(() => null);
  if (there?.equals(wanted)) return;
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, wanted);
}
