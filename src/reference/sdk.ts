import { createClient } from "@hey-api/openapi-ts";

/** Makes a client in a folder: a function for each operation, all types, and the code that sends the requests. */
export async function generateSdk(document: object, folder: string) {
  await createClient({
    input: document as Record<string, unknown>,
    output: folder,
    plugins: ["@hey-api/client-fetch"],
    logs: { level: "silent", file: false },
  });
}
