import { ERROR_CODE } from "../../http/errors.ts";
import type { Api } from "../apis.ts";
import { pretty } from "../guide_bodies.ts";
import { programOf } from "../guide_programs.ts";
import { slugOf } from "./assets/words.js";
import { fieldLine, fieldsOf, nameIn, resolved, type Side, typeOf } from "./fields.ts";
import {
  type Document,
  examplesOf,
  type Header,
  type Media,
  type Operation,
  type Parameter,
  scopeOfOperation,
} from "./openapi.ts";
import type { Page } from "./pages.ts";

export function operationPages(api: Api, document: Document, server: string): Page[] {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      operation,
      kind: "operation" as const,
      route: `${method.toUpperCase()} ${path}`,
      markdown: operationMarkdown({ api, method: method.toUpperCase(), path, server }, operation, document),
    })),
  );
  const events = Object.entries(document.webhooks ?? {}).map(([type, { post }]) => ({
    operation: post,
    kind: "event" as const,
    route: type,
    markdown: eventMarkdown(post, document),
  }));
  return document.tags.flatMap(({ name, description }) => {
    const folder = `/${api}/reference/${slugOf(name)}`;
    const pages = [...operations, ...events]
      .filter(({ operation }) => operation.tags.includes(name))
      .map(({ operation, ...page }): Page => {
        const path = `${folder}/${slugOf(operation.operationId.replace(/([A-Z])/g, " $1"))}`;
        return { ...page, api, resource: name, path, title: operation.summary };
      });
    const rows = pages.map(({ title, path, route }) => `| [${title}](${path}) | \`${route}\` |`);
    const table = ["| Page | Route or event type |", "| --- | --- |", ...rows].join("\n");
    const markdown = paragraphs([description, table]);
    const group = document["x-tagGroups"].find(({ tags }) => tags.includes(name))?.name;
    return [{ api, group, kind: "resource", resource: name, path: folder, title: name, markdown }, ...pages];
  });
}

interface Sent {
  api: Api;
  method: string;
  path: string;
  server: string;
}

function operationMarkdown(sent: Sent, operation: Operation, document: Document): string {
  const { description, parameters = [], requestBody, responses } = operation;
  const successes = Object.entries(responses).filter(([status]) => status < "300");
  const refusals = Object.entries(responses).filter(([status]) => status >= "400");
  const section = (title: string, place: Parameter["in"], before: string[] = [], text?: string) =>
    sectionOf(`## ${title}`, text, [
      ...before,
      ...parameters.filter((each) => each.in === place).map((each) => parameterLine(each, document)),
    ]);
  return paragraphs([
    `\`\`\`http\n${sent.method} /api/${sent.api}${sent.path}\n\`\`\``,
    description,
    scopeLine(operation),
    ...samplesOf(sent, operation),
    section("Path parameters", "path"),
    section("Query parameters", "query"),
    section("Headers", "header", credentialLines(operation, document), CREDENTIALS_FILE[sent.api]),
    bodyOf("## Body", requestBody, document, "sent"),
    ...successes.flatMap(([status, { description, content }]) => [
      `## Response ${status}`,
      description,
      ...Object.entries(content ?? {}).flatMap(([type, media]) => mediaOf(type, media, document, "received")),
    ]),
    refusals.length > 0 && "## Errors",
    refusals.length > 0 && codesOf(sent.api),
    ...refusals.map(([status, { description, content }]) =>
      sectionOf(
        `### ${status}`,
        description,
        Object.values(content ?? {})
          .flatMap(examplesOf)
          .map(({ summary, value }) => `- \`${summary}\`: \`${(value as { error: string }).error}\``),
      ),
    ),
    sectionOf("## Response headers", undefined, responseHeaderLines(operation, document)),
  ]);
}

function eventMarkdown(
  { description, parameters = [], requestBody, responses }: Operation,
  document: Document,
): string {
  return paragraphs([
    description,
    "To receive and verify webhooks, see [Webhooks](/external/guides/webhooks).",
    bodyOf("## Body", requestBody, document, "received"),
    sectionOf(
      "## Headers",
      undefined,
      parameters.map((each) => parameterLine(each, document)),
    ),
    sectionOf(
      "## Your receiver's response",
      undefined,
      Object.entries(responses).map(
        ([status, each]) =>
          `- ${status === "default" ? "Any other status" : `\`${status}\``}: ${each.description}`,
      ),
    ),
  ]);
}

const codesOf = (api: Api) =>
  `Each error is listed as its code in the header \`${ERROR_CODE}\`, followed by its text. See [all codes](/${api}/guides/error-codes).`;

const paragraphs = (parts: (string | undefined | false)[]): string => parts.filter(Boolean).join("\n\n");

const sectionOf = (heading: string, text: string | undefined, lines: string[]): string | false =>
  (text !== undefined || lines.length > 0) && paragraphs([heading, text, lines.join("\n")]);

const bodyOf = (
  heading: string,
  body: Operation["requestBody"],
  document: Document,
  side: Side,
): string | false =>
  body !== undefined &&
  paragraphs([
    heading,
    body.description,
    ...Object.entries(body.content).flatMap(([type, media]) => mediaOf(type, media, document, side)),
  ]);

function mediaOf(type: string, media: Media, document: Document, side: Side): string[] {
  const isJson = type.endsWith("json") && !type.endsWith("ndjson");
  // The example of a file is empty, so it is not shown.
  const shown = examplesOf(media).filter(({ value }) => value !== "");
  const examples = shown.map(({ value, summary }) =>
    paragraphs([
      summary && `${summary}:`,
      isJson ? fence("json", pretty(value)) : fence("text", String(value).trim()),
    ]),
  );
  const fields = isJson ? fieldsOf(media.schema, document, side) : [];
  const whole = `- ${typeOf(media.schema, document)}: ${resolved(media.schema, document).description ?? type}`;
  return [`\`${type}\``, ...examples, fields.join("\n") || whole];
}

const fence = (language: string, code: string) => `\`\`\`${language}\n${code}\n\`\`\``;

function parameterLine(parameter: Parameter, document: Document): string {
  const { name, schema, required, description = "", example } = parameter;
  const { const: only, ...known } = resolved(schema, document);
  // `enum` instead of `const`, because `const` would be shown as JSON, with quotes.
  const plain = only === undefined ? known : { ...known, enum: [only] };
  const line = fieldLine(name, { ...plain, description }, document, required ? ["**required**"] : []);
  return `${line}${example === undefined ? "" : ` For example \`${example}\`.`}`;
}

const scopeLine = (operation: Operation): string | undefined => {
  const scope = scopeOfOperation(operation);
  return (
    scope && `Scope: \`${scope}\`. [Give each program its own key](/external/guides/keys) explains scopes.`
  );
};

/** The headers with credentials. Several bearer tokens are alternatives in one header. */
function credentialLines({ security = [] }: Operation, { components }: Document): string[] {
  const schemes = security
    .flatMap((each) => Object.keys(each))
    .flatMap((scheme) => components.securitySchemes[scheme] ?? []);
  const byHeader = Map.groupBy(schemes, ({ name }) => name);
  return [...byHeader].map(([name, alternatives]) => {
    const description = alternatives.map(({ description }) => description).join(" Or: ");
    return `- \`${name ?? "Authorization"}\` *string*, **required**: ${name ? "" : "`Bearer`, a space, and the token. "}${description}`;
  });
}

function responseHeaderLines({ responses }: Operation, document: Document): string[] {
  const all = Object.entries(responses);
  const names = new Set(all.flatMap(([, { headers = {} }]) => Object.keys(headers)));
  return [...names].map((name) => {
    const having = all.filter(([, { headers = {} }]) => name in headers).map(([status]) => status);
    const header = all.map(([, { headers = {} }]) => headers[name]).find(Boolean) as Header;
    const { description = "", ...known } = header.$ref
      ? (document.components.headers[nameIn(header.$ref)] as Header)
      : header;
    // Each status has its own codes, which are listed with their texts.
    if (name === ERROR_CODE) known.schema = { type: "string" };
    const where = having.length === all.length ? "With every status." : `With ${having.join(", ")}.`;
    const shown = { ...known, name, in: "header" as const, required: false };
    return parameterLine({ ...shown, description: `${description} ${where}` }, document);
  });
}

const CREDENTIALS_FILE: Record<Api, string | undefined> = {
  external:
    "The samples read the credentials from the file `client.curl`: [Your first request](/external/guides/first-request) creates it.",
  platform:
    "The samples read the token from the file `platform.curl`: [Your first request](/platform/guides/first-request) creates it.",
  livekit: undefined,
};

function samplesOf(
  { api, method, path, server }: Sent,
  { parameters = [], requestBody }: Operation,
): string[] {
  // LiveKit signs each event, so readers cannot send one.
  if (api === "livekit") return [];
  const url = path.replace(/\{(\w+)\}/g, (_, name) =>
    String(parameters.find((each) => each.name === name)?.example),
  );
  const [[type = "", media] = []] = Object.entries(requestBody?.content ?? {});
  const body = media && examplesOf(media)[0]?.value;
  const verb = method === (body ? "POST" : "GET") ? "" : `-X ${method} `;
  const lines = [
    `curl -K ${api === "external" ? "client" : "platform"}.curl ${verb}"$API${url}"`,
    ...(body ? [`-H "Content-Type: ${type}"`, `-d '${pretty(body).replaceAll("'", "'\\''")}'`] : []),
  ];
  const command = lines.join(" \\\n  ");
  const withAddress = command.replace("$API", () => `${server}/api/${api}`);
  return [
    fence("sh", withAddress),
    ...(api === "external" ? ["With the package:", fence("js", programOf(command))] : []),
  ];
}
