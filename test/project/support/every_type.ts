import type ts from "typescript";
import type { Document, Operation, Parameter } from "../../../src/reference/site/openapi.ts";

/** How the user of a generated client writes the type of each part of an operation. */
interface Client {
  imports: string;
  settings: ts.CompilerOptions;
  parameter: (id: string, place: Parameter["in"], name: string) => string;
  body: (id: string) => string;
  response: (id: string, status: string) => string;
  webhook: (type: string) => string;
  /** Types that only some clients have. */
  more: (id: string) => Record<string, string>;
}

/** How the client package sets a header: with an option, or with `withActingUser`. */
const HEADERS: Record<string, (options: string) => string> = {
  "Idempotency-Key": (options) => `${options}["idempotencyKey"]`,
  "If-Match": (options) => `${options}["ifMatch"]`,
  "X-D1-Bookmark": (options) => `${options}["bookmark"]`,
  "X-Acting-User": () => 'Parameters<api.Client["withActingUser"]>[0]',
  "X-Purpose-Of-Use": () => 'Parameters<api.Client["withActingUser"]>[1]',
};

/** The client package in this folder. All its errors are of one class. */
export function packageIn(folder: string): Client {
  const part = (id: string, n: number) => `NonNullable<Parameters<api.Client["${id}"]>[${n}]>`;
  return {
    imports: `import type * as api from "${folder}/index.js"`,
    settings: {},
    parameter: (id, place, name) =>
      place === "header" ? (HEADERS[name]?.(part(id, 1)) ?? "unknown") : `${part(id, 0)}["${name}"]`,
    body: (id) => part(id, 0),
    response: (id, status) =>
      status < "300" ? `Awaited<ReturnType<api.Client["${id}"]>>` : `api.VideoVisitError["text"]`,
    webhook: (type) => `Extract<api.WebhookEvent, { type: "${type}" }>`,
    more: () => ({}),
  };
}

export function sdkIn(folder: string): Client {
  const options = (id: string) => `NonNullable<Parameters<typeof sdk.${id}<false>>[0]>`;
  const result = (id: string) => `Awaited<ReturnType<typeof sdk.${id}<false>>>`;
  return {
    imports: `import type * as sdk from "${folder}/index.ts"`,
    // The SDK's own code, which is the same for every document, does not compile with it.
    settings: { exactOptionalPropertyTypes: false },
    parameter: (id, place, name) =>
      `NonNullable<${options(id)}["${place === "header" ? "headers" : place}"]>["${name}"]`,
    body: (id) => `${options(id)}["body"]`,
    response: (id, status) => `sdk.${capital(id)}${status < "300" ? "Responses" : "Errors"}[${status}]`,
    webhook: (type) => `Extract<sdk.Webhooks, { key: "${type}" }>["body"]`,
    more: (id) => ({ data: `${result(id)}["data"]`, error: `${result(id)}["error"]` }),
  };
}

const capital = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);

/** A source that exports every type that the document promises. It does not compile if the client lacks one. */
export function everyType(
  { paths, webhooks = {} }: Pick<Document, "paths" | "webhooks">,
  client: Client,
): string {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  return [
    client.imports,
    ...operations.map((each) => exported(each.operationId, typesOf(each, client))),
    ...Object.entries(webhooks).map(([type, { post }]) =>
      exported(post.operationId, { body: client.webhook(type) }),
    ),
  ].join(";\n");
}

function typesOf(operation: Operation, client: Client) {
  const { operationId: id, parameters = [], requestBody, responses } = operation;
  const types: Record<string, string> = {};
  for (const { in: place, name } of parameters) types[`${place} ${name}`] = client.parameter(id, place, name);
  if (requestBody) types.body = client.body(id);
  for (const status of Object.keys(responses))
    if (status !== "204") types[status] = client.response(id, status);
  return { ...types, ...client.more(id) };
}

const exported = (name: string, types: Record<string, string>) =>
  `export interface ${name} {${Object.entries(types).map(([key, type]) => `"${key}": ${type}`)}}`;
