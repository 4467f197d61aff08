import { readFileSync } from "node:fs";

interface Operation {
  responses: Record<string, unknown>;
}

const operationsOf = (api: string) => {
  const { paths } = JSON.parse(readFileSync(`dist/public/api/${api}/openapi.json`, "utf8")) as {
    paths: Record<string, Record<string, Operation>>;
  };
  // As in the router, a literal segment wins over a parameter.
  return Object.entries(paths)
    .sort(([a], [b]) => Number(a.includes("{")) - Number(b.includes("{")))
    .map(([path, operations]) => ({
      pattern: new RegExp(`^${path.replace(/\{\w+\}/g, "[^/]+")}$`),
      operations,
    }));
};

const documents: Record<string, ReturnType<typeof operationsOf>> = {
  "/api/external": operationsOf("external"),
  "/api/platform": operationsOf("platform"),
};

/** Returns a fault if the published document does not have this status for the operation, or an error has no code. */
export function expectDocumented(
  base: string,
  method: string,
  path: string,
  status: number,
  headers: Headers,
): string | undefined {
  const [asked = ""] = path.split("?");
  const found = documents[base]?.find(
    ({ pattern, operations }) => pattern.test(asked) && method.toLowerCase() in operations,
  );
  const operation = found?.operations[method.toLowerCase()];
  if (!operation) return "no document has this operation";
  if (!(status in operation.responses)) return `the status ${status} is not documented`;
  if (status >= 400 && !headers.has("Error-Code")) return `the error ${status} has no code`;
}
