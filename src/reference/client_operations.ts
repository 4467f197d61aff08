import type { Route } from "../client/request.ts";
import { codesOf } from "./error_codes.ts";
import { type Document, type Operation, type Schema, scopeOfOperation } from "./site/openapi.ts";

/** The media type of most responses, which a route can leave out. */
const JSON_ONLY = "application/json";

const NDJSON = "application/x-ndjson";

const IDEMPOTENCY_KEY = "Idempotency-Key";

/** The headers that the client sets itself or from an option of a request. */
const HEADERS = [IDEMPOTENCY_KEY, "If-Match", "X-D1-Bookmark", "X-Acting-User", "X-Purpose-Of-Use"];

export function operationsSource({ info, paths, components }: Document): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      operation,
      route: routeOf(`${method.toUpperCase()} ${path}`, operation, components.schemas),
    })),
  );
  const importsOf = (names: string, file: string) => `import type ${names} from "./${file}";`;
  return `${importsOf("{ ItemOf }", "paginate.ts")}
${importsOf("{ As, CreationOptions, RequestOptions, Route }", "request.ts")}
${importsOf("* as types", "types.gen.ts")}

export interface Operations {
${operations.map(({ operation, route }) => `${comment(operation)}  readonly ${operation.operationId}: ${signature(operation, route)};`).join("\n")}
}

${errorCodesSource(operations.map(({ operation }) => operation))}

export const VERSION: string = ${JSON.stringify(info.version)};

export const OPERATIONS: Record<keyof Operations, Route> = {
${operations.map(({ operation, route }) => `  ${operation.operationId}: ${JSON.stringify(route)},`).join("\n")}
};
`;
}

/** Writes the codes that every operation has only once. */
function errorCodesSource(operations: Operation[]): string {
  const all = operations.map((operation) => ({ ...operation, codes: [...new Set(codesOf(operation))] }));
  const common = (all[0]?.codes ?? []).filter((code) => all.every(({ codes }) => codes.includes(code)));
  const unionOf = (codes: string[]) => codes.map((code) => JSON.stringify(code)).join(" | ");
  const lines = all.map(({ operationId, codes }) => {
    const own = unionOf(codes.filter((code) => !common.includes(code)));
    return `  ${operationId}: CommonErrorCode${own && ` | ${own}`};`;
  });
  return `/** The error codes that every function can have. */
export type CommonErrorCode = ${unionOf(common)};

/** The error codes of each function. */
export interface ErrorCodes {
${lines.join("\n")}
}

export type ErrorCode = ErrorCodes[keyof ErrorCodes];`;
}

function routeOf(route: string, operation: Operation, schemas: Schemas): Route {
  const { operationId, parameters = [], requestBody } = operation;
  const answers = mediaTypesOf(operation);
  const namesIn = (place: string) => parameters.filter((each) => each.in === place).map(({ name }) => name);
  const [query, headers] = [namesIn("query"), namesIn("header")];
  const unknown = headers.find((name) => !HEADERS.includes(name));
  if (unknown) throw new Error(`The client package does not know the header ${unknown} of ${operationId}`);
  return {
    route,
    ...(query.length > 0 ? { query } : {}),
    ...(requestBody ? { body: bodyNames(route, operation, schemas) } : {}),
    ...(headers.includes(IDEMPOTENCY_KEY) ? { honoursKey: true } : {}),
    ...(answers.join() === JSON_ONLY ? {} : { answers }),
  };
}

type Schemas = Document["components"]["schemas"];

/** The keys of the body, with the fields of each. A PUT may also send back those that the response shows. */
function bodyNames(route: string, operation: Operation, schemas: Schemas): Record<string, string[]> {
  const { requestBody } = operation;
  const fieldsOf = (schema: Schema = {}): Record<string, Schema> => {
    const { properties, items } = (schemas[schema.$ref?.split("/").at(-1) ?? ""] ?? schema) as Schema;
    return properties ?? (items ? fieldsOf(items) : {});
  };
  const shown = route.startsWith("PUT") ? fieldsOf(contentsOf(operation)[JSON_ONLY]?.schema) : {};
  const body = Object.entries(fieldsOf(requestBody?.content[JSON_ONLY]?.schema));
  return Object.fromEntries(
    body.map(([key, schema]) => {
      const fields = Object.keys(fieldsOf(schema));
      return [key, fields.length > 0 ? [...new Set([...fields, ...Object.keys(shown)])] : []];
    }),
  );
}

/** The type of the operation's function. Its input combines the path, the query and the body. */
function signature(operation: Operation, { route, query, body, honoursKey }: Route): string {
  const types = `types.${capital(operation.operationId)}`;
  const parts = [
    ...(route.includes("{") ? [`${types}Data["path"]`] : []),
    ...(query ? [`NonNullable<${types}Data["query"]>`] : []),
    ...(body ? [`${types}Data["body"]`] : []),
  ];
  const { parameters = [] } = operation;
  const isRequired =
    route.includes("{") || body || parameters.some((each) => each.in === "query" && each.required);
  const input = `input${isRequired ? "" : "?"}: ${parts.join(" & ") || "Record<string, never>"}`;
  const options = honoursKey ? "CreationOptions" : "RequestOptions";
  const [json, ...others] = mediaTypesOf(operation);
  if (json === NDJSON) return `(${input}, options?: ${options}) => Promise<AsyncIterable<unknown>>`;
  const inJson = `(${input}, options?: ${options}) => Promise<${json ? `${types}Response` : "void"}>`;
  if (others.length === 0) return inJson;
  const asOther = (type: string) =>
    `((${input.replace("?:", `: undefined |`)}, options: ${options} & As<"${type}">) => Promise<${contentOf(type, types, contentsOf(operation)[type]?.schema)}>)`;
  return [...others.map(asOther), `(${inJson})`].join(" & ");
}

/** The type of a response that is not JSON. NDJSON has the items of the JSON response, one per line. */
function contentOf(type: string, types: string, { $ref }: Schema = {}): string {
  if (type === NDJSON) return `AsyncIterable<ItemOf<${types}Response>>`;
  if (type.startsWith("text/")) return "string";
  return $ref ? `types.${$ref.split("/").at(-1)}` : "Blob";
}

const contentsOf = ({ responses }: Operation) => {
  const [success] = Object.entries(responses).filter(([status]) => status < "300");
  return success?.[1].content ?? {};
};

const mediaTypesOf = (operation: Operation) => Object.keys(contentsOf(operation));

const comment = (operation: Operation) => {
  const scope = scopeOfOperation(operation);
  const text = [
    `${operation.summary}.`,
    firstSentence(operation.description ?? ""),
    scope && `Scope: ${scope}.`,
    operation["x-required-roles"] && `Role: ${operation["x-required-roles"].join(" or ")}.`,
  ];
  return `  /** ${text.filter(Boolean).join(" ").replaceAll("*/", "*\\/")} */\n`;
};

/** Editors show only this sentence beside the code. The reference has the full text. */
export const firstSentence = (text: string): string =>
  (/^[\s\S]*?[.!?](?=\s|$)/.exec(text)?.[0] ?? text).replaceAll("\n", " ");

const capital = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);
