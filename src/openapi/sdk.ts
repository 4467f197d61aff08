import { createClient } from "@hey-api/openapi-ts";

/** Makes a client in a folder: a function for each operation, and the code that sends the requests. */
export async function generateSdk(document: object, folder: string) {
  await createClient({
    // The generator changes what it is given.
    input: structuredClone(document) as Record<string, unknown>,
    output: folder,
    plugins: ["@hey-api/client-fetch", "@hey-api/typescript", "@hey-api/sdk"],
    logs: { level: "silent", file: false },
  });
}
