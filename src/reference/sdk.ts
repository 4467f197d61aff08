import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@hey-api/openapi-ts";

export const generateSdk = (document: object, folder: string) =>
  runGenerator(document, folder, ["@hey-api/client-fetch"]);

export async function generateTypes(document: object): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "types-"));
  try {
    await runGenerator(document, folder, ["@hey-api/typescript"]);
    return await readFile(join(folder, "types.gen.ts"), "utf8");
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function runGenerator(
  document: object,
  folder: string,
  plugins: ("@hey-api/client-fetch" | "@hey-api/typescript")[],
) {
  await createClient({
    input: document as Record<string, unknown>,
    output: folder,
    plugins,
    logs: { level: "silent", file: false },
  });
}
