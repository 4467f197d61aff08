import type { Route } from "../client/request.ts";
import type { Document, Operation } from "./site/openapi.ts";

/** What most operations answer with, so that it is not said. */
const JSON_ONLY = "application/json";

const NDJSON = "application/x-ndjson";

const IDEMPOTENCY_KEY = "Idempotency-Key";

/** What the client sets by itself, or by an option of a request. */
const HEADERS = [IDEMPOTENCY_KEY, "X-D1-Bookmark", "X-Acting-User", "X-Purpose-Of-Use"];

/** The source of the client package that says how each operation is called, and sent. */
export function operationsSource({ info, paths }: Document): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      operation,
      route: routeOf(`${method.toUpperCase()} ${path}`, operation),
    })),
  );
  const importsOf = (names: string, file: string) => `import type ${names} from "./${file}";`;
  return `${importsOf("{ ItemOf }", "paginate.ts")}
${importsOf("{ As, CreationOptions, RequestOptions, Route }", "request.ts")}
${importsOf("* as types", "types.gen.ts")}

export interface Operations {
${operations.map(({ operation, route }) => `${comment(operation)}  readonly ${operation.operationId}: ${signature(operation, route)};`).join("\n")}
}

export const VERSION: string = ${JSON.stringify(info.version)};

export const OPERATIONS: Record<keyof Operations, Route> = {
${operations.map(({ operation, route }) => `  ${operation.operationId}: ${JSON.stringify(route)},`).join("\n")}
};
`;
}

function routeOf(route: string, operation: Operation): Route {
  const { operationId, parameters = [], requestBody } = operation;
  const answers = mediaTypesOf(operation);
  const namesIn = (place: string) => parameters.filter((each) => each.in === place).map(({ name }) => name);
  const [query, headers] = [namesIn("query"), namesIn("header")];
  const unknown = headers.find((name) => !HEADERS.includes(name));
  if (unknown) throw new Error(`The client package knows no header ${unknown}, which ${operationId} takes`);
  return {
    route,
    ...(query.length > 0 ? { query } : {}),
    ...(requestBody ? { body: true } : {}),
    ...(headers.includes(IDEMPOTENCY_KEY) ? { honoursKey: true } : {}),
    ...(answers.join() === JSON_ONLY ? {} : { answers }),
  };
}

/** A function of what the path, the query and the body have. */
function signature(operation: Operation, { route, query, body, honoursKey }: Route): string {
  const types = `types.${capital(operation.operationId)}`;
  const parts = [
    ...(route.includes("{") ? [`${types}Data["path"]`] : []),
    ...(query ? [`NonNullable<${types}Data["query"]>`] : []),
    ...(body ? [`${types}Data["body"]`] : []),
  ];
  const isRequired = route.includes("{") || body;
  const input = `input${isRequired ? "" : "?"}: ${parts.join(" & ") || "Record<string, never>"}`;
  const options = honoursKey ? "CreationOptions" : "RequestOptions";
  const [json, ...others] = mediaTypesOf(operation);
  const inJson = `(${input}, options?: ${options}) => Promise<${json ? `${types}Response` : "void"}>`;
  if (others.length === 0) return inJson;
  const asOther = (type: string) =>
    `((${input.replace("?:", `: undefined |`)}, options: ${options} & As<"${type}">) => Promise<${contentOf(type, types)}>)`;
  return [...others.map(asOther), `(${inJson})`].join(" & ");
}

/** What a response in another form than JSON is. NDJSON has the items of the JSON, one after the other. */
function contentOf(type: string, types: string): string {
  if (type === NDJSON) return `AsyncIterable<ItemOf<${types}Response>>`;
  return type.startsWith("text/") ? "string" : "Blob";
}

const mediaTypesOf = ({ responses }: Operation): string[] => {
  const [success] = Object.entries(responses).filter(([status]) => status < "300");
  return Object.keys(success?.[1].content ?? {});
};

const comment = ({ summary, description }: Operation) =>
  `  /** ${[`${summary}.`, firstSentence(description ?? "")].join(" ").trim().replaceAll("*/", "*\\/")} */\n`;

/** Editors show it beside the code, and the reference has the rest. */
export const firstSentence = (text: string): string =>
  (/^[\s\S]*?[.!?](?=\s|$)/.exec(text)?.[0] ?? text).replaceAll("\n", " ");

const capital = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);
