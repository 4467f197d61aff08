/**
 * `npm run build`: makes what is served as static assets (the OpenAPI documents, and the page that shows them) and
 * the types of a client. None of it is in the Worker's bundle.
 */
import { copyFile, cp, mkdir, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import openapiTS, { astToString, type OpenAPI3 } from "openapi-typescript";
import { buildDocument, type Door } from "./document.ts";

const ASSETS = "dist/public";
const TYPES = "dist/client";

await mkdir(TYPES, { recursive: true });
await cp(join(import.meta.dirname, "page"), ASSETS, { recursive: true });
await copyFile(scalarScript(), join(ASSETS, "scalar.js"));
for (const door of ["external", "platform"] satisfies Door[]) {
  const document = buildDocument(door);
  await mkdir(join(ASSETS, "api", door), { recursive: true });
  await writeFile(join(ASSETS, "api", door, "openapi.json"), `${JSON.stringify(document, null, 2)}\n`);
  const types = await openapiTS(document as OpenAPI3);
  await writeFile(join(TYPES, `${door}.d.ts`), astToString(types));
}

function scalarScript() {
  const entry = createRequire(import.meta.url).resolve("@scalar/api-reference");
  return join(dirname(entry), "browser", "standalone.js");
}
