import type { Api } from "../apis.ts";
import { ownErrors } from "../error_codes.ts";
import { pretty } from "../guide_bodies.ts";
import { programOf } from "../guide_programs.ts";
import { slugOf } from "./assets/words.js";
import { everyOperationPage } from "./every_operation.ts";
import { fieldsOf, parameterLine, typeOf } from "./fields.ts";
import {
  type Document,
  examplesOf,
  isSuccess,
  type Linked,
  type Media,
  type Operation,
  type Parameter,
  resolved,
  scopeOfOperation,
} from "./openapi.ts";
import { fence, foldOf, type Page, paragraphs, sectionOf } from "./pages.ts";
import { everyOperation, folderOf, foldsOf, linked, sectionsOn } from "./schemas.ts";

export function operationPages(api: Api, plain: Document, external: Document, server: string): Page[] {
  const document = linked(api, plain, external);
  const sent = { api, server, errorsOf: ownErrors(document) };
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      operation,
      kind: "operation" as const,
      route: `${method.toUpperCase()} ${path}`,
      request: api === "livekit" ? undefined : requestOf(api, method.toUpperCase(), path, operation),
      markdown: operationMarkdown({ ...sent, method: method.toUpperCase(), path }, operation, document),
    })),
  );
  const events = Object.entries(document.webhooks ?? {}).map(([type, { post }]) => ({
    operation: post,
    kind: "event" as const,
    route: type,
    request: undefined,
    markdown: eventMarkdown(api, post, document),
  }));
  const pages = document.tags.flatMap(({ name, description }) => {
    const folder = folderOf(api, name);
    const pages = [...operations, ...events]
      .filter(({ operation }) => operation.tags.includes(name))
      .map(({ operation, ...page }): Page => {
        const path = `${folder}/${slugOf(operation.operationId.replace(/([A-Z])/g, " $1"))}`;
        return { ...page, api, resource: name, path, title: operation.summary };
      });
    const rows = pages.map(({ title, path, route }) => `| [${title}](${path}) | \`${route}\` |`);
    const table = ["| Page | Route or event type |", "| --- | --- |", ...rows].join("\n");
    const markdown = paragraphs([description, table, ...sectionsOn(folder, document)]);
    const group = document["x-tagGroups"].find(({ tags }) => tags.includes(name))?.name;
    return [
      { api, group, kind: "resource" as const, resource: name, path: folder, title: name, markdown },
      ...pages,
    ];
  });
  return [everyOperationPage(api, document), ...pages];
}

interface Sent {
  api: Api;
  method: string;
  path: string;
  server: string;
  errorsOf: (operation: Operation) => string[];
}

function operationMarkdown(sent: Sent, operation: Operation, document: Linked): string {
  const { description = "", parameters = [], requestBody, responses } = operation;
  const [, sentence = "", more] = /^([\s\S]*?\.(?=\s|$))\s*([\s\S]*)$/.exec(description) ?? [];
  const successes = Object.entries(responses).filter(isSuccess);
  const linesOf = (place: Parameter["in"]) =>
    parameters.filter((each) => each.in === place).map((each) => parameterLine(each, document));
  const [body] = Object.entries(requestBody?.content ?? {});
  const samples = samplesOf(sent, operation);
  return paragraphs([
    fence("http", `${sent.method} /api/${sent.api}${sent.path}`),
    sentence,
    labelsOf(sent.api, operation),
    more,
    sectionOf(
      "## Example",
      ...samples,
      // The samples have the first one.
      ...(body ? examplesIn(...body).slice(samples.length > 0 ? 1 : 0) : []),
      ...successes.flatMap(([status, { content = {} }]) =>
        Object.entries(content).flatMap(([type, media]) => examplesIn(type, media, `Response ${status}`)),
      ),
    ),
    sectionOf("## Parameters", [...linesOf("path"), ...linesOf("query")]),
    body && sectionOf("## Body", ...fieldsIn(...body, document, "sent")),
    ...successes.map(([status, { description, headers = {}, content = {} }]) =>
      sectionOf(
        `## Response ${status}`,
        Object.keys(content).length === 0 && description,
        ...Object.entries(content).flatMap(([type, media]) => fieldsIn(type, media, document, "received")),
        Object.entries(headers)
          .filter(([, { $ref }]) => !$ref)
          .map(([name, header]) =>
            parameterLine({ ...header, name, in: "header", required: false }, document),
          ),
      ),
    ),
    sectionOf("## Errors", sent.errorsOf(operation)),
    foldOf("Headers and errors of every operation", everyOperation(sent.api)),
  ]);
}

const eventMarkdown = (api: Api, { description, requestBody }: Operation, document: Linked): string => {
  const [[type, media] = ["", { schema: {} }]] = Object.entries(requestBody?.content ?? {});
  // Only these fields differ between events.
  const { data = {} } = resolved(media.schema, document).properties ?? {};
  const fields = fieldsOf(data, document, "received");
  return paragraphs([
    description,
    sectionOf("## Example", ...examplesIn(type, media).slice(0, 1)),
    sectionOf("## Data", fields.length > 0 ? fields : data.description),
    foldOf("Fields, headers and response of every webhook", `${everyOperation(api)}#webhooks`),
  ]);
};

/** The scope, role, limits and headers of the request, on one line. */
function labelsOf(api: Api, operation: Operation): string {
  const { parameters = [], "x-required-roles": roles = [], "x-limits": limits = [] } = operation;
  const scope = scopeOfOperation(operation);
  const headers = parameters.filter(({ name }) => ["Idempotency-Key", "If-Match"].includes(name));
  const all = {
    Scope: scope && `[\`${scope}\`](/external/guides/keys)`,
    Role: api === "external" && (roles.map((role) => `\`${role}\``).join(" or ") || "any"),
    Limits: limits.join(", "),
    Takes: headers.map(({ name }) => `\`${name}\``).join(", "),
  };
  return Object.entries(all)
    .filter(([, value]) => value)
    .map(([name, value]) => `**${name}** ${value}`)
    .join(" · ");
}

const isJson = (type: string) => /[/+](json|jws)$/.test(type);

/** The examples of a body. The example of a file is empty, so it is not shown. */
const examplesIn = (type: string, media: Media, before = ""): string[] =>
  examplesOf(media)
    .filter(({ value }) => value !== "")
    .map(({ value, summary }) =>
      paragraphs([
        [before, type === "application/json" ? "" : `as \`${type}\``, summary]
          .filter(Boolean)
          .join(", ")
          .replace(/(?<=.)$/, ":"),
        isJson(type) ? fence("json", pretty(value)) : fence("text", String(value).trim()),
      ]),
    );

function fieldsIn(type: string, { schema }: Media, document: Linked, side: "sent" | "received"): string[] {
  const fields = isJson(type)
    ? fieldsOf(schema, document, side)
    : [`- \`${type}\` ${typeOf(schema, document, side)}: ${resolved(schema, document).description ?? ""}`];
  return [fields.join("\n"), ...(side === "received" ? foldsOf(schema, document) : [])];
}

/** The request of the first example, with the names of the credentials as their values. */
export function requestOf(
  api: Api,
  method: string,
  path: string,
  { parameters = [], requestBody }: Operation,
) {
  const url = path.replace(/\{(\w+)\}/g, (_, name) =>
    String(parameters.find((each) => each.name === name)?.example),
  );
  const query = parameters
    .filter((each) => each.in === "query" && each.required)
    .map(({ name, example }) => `${name}=${encodeURIComponent(String(example))}`)
    .join("&");
  const [[type = "", media] = []] = Object.entries(requestBody?.content ?? {});
  const value = media && examplesOf(media)[0]?.value;
  return {
    method,
    path: `/api/${api}${url}${query && `?${query}`}`,
    headers: { ...CREDENTIALS[api], ...(value ? { "Content-Type": type } : {}) },
    ...(value ? { body: pretty(value) } : {}),
  };
}

const CREDENTIALS: Record<Api, Record<string, string>> = {
  external: { "X-Client-ID": "CLIENT_ID", "X-Client-Secret": "CLIENT_SECRET" },
  platform: { Authorization: "Bearer PLATFORM_API_TOKEN" },
  livekit: {},
};

function samplesOf({ api, method, path, server }: Sent, operation: Operation): string[] {
  // LiveKit signs each event, so readers cannot send one.
  if (api === "livekit") return [];
  const { path: url, headers, body } = requestOf(api, method, path, operation);
  const verb = method === (body ? "POST" : "GET") ? "" : `-X ${method} `;
  const lines = [
    `curl -K ${api === "external" ? "client" : "platform"}.curl ${verb}"$API${url.slice(`/api/${api}`.length)}"`,
    ...(body
      ? [`-H "Content-Type: ${headers["Content-Type"]}"`, `-d '${body.replaceAll("'", "'\\''")}'`]
      : []),
  ];
  const command = lines.join(" \\\n  ");
  const withAddress = command.replace("$API", () => `${server}/api/${api}`);
  return [
    fence("sh", withAddress),
    ...(api === "external" ? ["With the package:", fence("js", programOf(command))] : []),
  ];
}
