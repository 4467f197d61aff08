import { Validator, type Schema as ValidatorSchema } from "@cfworker/json-schema";
import externalDocument from "../../../dist/public/api/external/openapi.json";
import liveKitDocument from "../../../dist/public/api/livekit/openapi.json";
import platformDocument from "../../../dist/public/api/platform/openapi.json";
import type { Document, Header, Media, Operation, Schema } from "../../../src/reference/site/openapi.ts";
import { isSharded } from "./deployed.ts";
import { isDocumented } from "./error_texts.ts";

type Examples = NonNullable<Media["examples"]>;

/** The published documents, by the base path of their API. */
export const documents: Record<string, Document> = {
  "/api/external": externalDocument as unknown as Document,
  "/api/platform": platformDocument as unknown as Document,
  "/api/livekit": liveKitDocument as unknown as Document,
};

const validators = new Map<object, Validator>();

/**
 * Checks a response against the published document of its API: an undocumented status or field fails the test. A
 * request that matches no operation must be refused. Paths outside the APIs have no document.
 */
export function expectAsDocumented(
  base: string,
  method: string,
  path: string,
  { status, headers, body }: { status: number; headers: Headers; body: unknown },
) {
  const said = `${method} ${base}${path} answered ${status}`;
  const code = headers.get("Error-Code");
  if (status >= 400 !== (code !== null)) throw new Error(`${said} with the error code ${code}`);
  const document = documents[base];
  if (!document) return;
  const operation = operationFor(document, method, path);
  if (!operation) {
    if (![401, 403, 404, 405].includes(status))
      throw new Error(`${said}, and no document has this operation`);
    return;
  }
  const response = operation.responses[status];
  if (!response) throw new Error(`${said}, which is not documented`);
  requireHeaders(document, headers, response.headers ?? {}, said);
  const [mediaType = ""] = headers.get("Content-Type")?.split(";") ?? [];
  const { schema, examples = {} } = response.content?.[mediaType] ?? {};
  if (!schema) {
    if (body !== null) throw new Error(`${said} with a body, which is not documented`);
    return;
  }
  requireBody(document, body, schema, said);
  // With several databases, a half-created organization counts in the total until its creation is repeated.
  const isInexact = isSharded && /^\/organizations(\?|$)/.test(path);
  const faultOfSuccess = isInexact ? undefined : faultOfPage(body);
  const fault =
    status < 400 ? faultOfSuccess : faultOfError(body as { error: string }, status, code, examples);
  if (fault) throw new Error(`${said} with ${fault}`);
}

/** Returns a fault if the error's text is not documented for its status, or is documented with another code. */
function faultOfError(
  { error }: { error: string },
  status: number,
  code: string | null,
  examples: Examples,
): string | undefined {
  const known = Object.values(examples).map(({ summary, value }) => ({
    code: summary,
    text: (value as { error: string }).error,
  }));
  const texts = known.map(({ text }) => text);
  if (!isDocumented(error, status, texts)) return `an error that is not documented: ${error}`;
  const codes = known.filter(({ text }) => text === error).map((each) => each.code);
  if (codes.length > 0 && !codes.includes(code ?? ""))
    return `the code ${code} of another error than ${error}`;
}

/** Headers of every response, for browsers and caches, which the documents leave out. */
const GENERAL_HEADERS = new Set([
  "cache-control",
  "content-security-policy",
  "content-type",
  "cross-origin-opener-policy",
  "cross-origin-resource-policy",
  "origin-agent-cluster",
  "referrer-policy",
  "strict-transport-security",
  "x-content-type-options",
  "x-dns-prefetch-control",
  "x-download-options",
  "x-frame-options",
  "x-permitted-cross-domain-policies",
  "x-xss-protection",
]);

function requireHeaders(
  document: Document,
  headers: Headers,
  documented: Record<string, Header>,
  said: string,
) {
  const names = new Set(Object.keys(documented).map((name) => name.toLowerCase()));
  for (const name of headers.keys())
    if (!names.has(name) && !GENERAL_HEADERS.has(name))
      throw new Error(`${said} with the header ${name}, which is not documented`);
  for (const [name, header] of Object.entries(documented)) {
    const { schema, required } = header.$ref ? sharedHeader(document, name) : header;
    if (required && !headers.has(name)) throw new Error(`${said} without the header ${name}`);
    requireHeader(document, headers, name, schema, said);
  }
}

function sharedHeader({ components }: Document, name: string) {
  const header = components.headers[name];
  if (!header) throw new Error(`The document has no header ${name}`);
  return header;
}

export function expectWebhookAsDocumented(headers: Headers, body: { type: string }) {
  const document = documents["/api/external"];
  const { parameters, requestBody } = document?.webhooks?.[body.type]?.post ?? {};
  const schema = requestBody?.content["application/json"]?.schema;
  const said = `A webhook was sent of the type ${body.type}`;
  if (!document || !parameters || !schema) throw new Error(`${said}, which is not documented`);
  for (const { name, schema } of parameters) {
    if (!headers.has(name)) throw new Error(`${said} without ${name}`);
    requireHeader(document, headers, name, schema, said);
  }
  requireBody(document, body, schema, said);
}

function requireBody(document: Document, body: unknown, schema: Schema, said: string) {
  const { valid, errors } = validatorFor(document, schema).validate(body);
  if (!valid) throw new Error(`${said}, not as documented: ${JSON.stringify(errors, null, 2)}`);
}

/** Checks the header against its schema, if the response has it. */
function requireHeader(document: Document, headers: Headers, name: string, schema: Schema, said: string) {
  const text = headers.get(name);
  if (text === null) return;
  const value = schema.type === "integer" ? Number(text) : text;
  if (!validatorFor(document, schema).validate(value).valid)
    throw new Error(`${said} with ${name}: ${text}, not as documented`);
}

/** Returns a fault if a page does not have the number of pages or items that its total implies. */
function faultOfPage(body: unknown): string | undefined {
  const { pagination, ...rest } = (body ?? {}) as { pagination?: Record<string, number> };
  if (!pagination) return;
  const { current_page = 0, per_page = 0, total_pages, total_count = 0 } = pagination;
  if (total_pages !== Math.ceil(total_count / per_page))
    return `${total_pages} pages of ${total_count} items`;
  const shown = Object.values<unknown>(rest).find(Array.isArray)?.length;
  const expected = Math.min(Math.max(total_count - (current_page - 1) * per_page, 0), per_page);
  if (shown !== expected) return `${shown} items, where ${JSON.stringify(pagination)} says ${expected}`;
}

function operationFor(document: Document, method: string, path: string): Operation | undefined {
  const asked = path.split("?")[0] ?? "";
  const patterns = Object.keys(document.paths).filter((pattern) =>
    new RegExp(`^${pattern.replace(/\{\w+\}/g, "[^/]+")}$`).test(asked),
  );
  // As in the router, a literal segment wins over a parameter.
  const [pattern = ""] = patterns
    .filter((each) => document.paths[each]?.[method.toLowerCase()])
    .sort((a, b) => Number(a.includes("{")) - Number(b.includes("{")));
  return document.paths[pattern]?.[method.toLowerCase()];
}

function validatorFor(document: Document, schema: Schema): Validator {
  const known = validators.get(schema);
  if (known) return known;
  const components = closed(document.components);
  const validator = new Validator(
    { ...(closed(schema) as object), components } as ValidatorSchema,
    "2020-12",
    false,
  );
  validators.set(schema, validator);
  return validator;
}

/** Closes all objects of a schema: the document allows new fields in the future, but the tests accept only today's. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== "object" || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([name, each]) => [name, closed(each)]));
  return copy.properties && copy.type === "object" && !("additionalProperties" in copy)
    ? { ...copy, additionalProperties: false }
    : copy;
}
