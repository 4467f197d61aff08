import { ERROR_CODE } from "../../http/errors.ts";
import type { Api } from "../apis.ts";
import { codesTables } from "../error_codes.ts";
import { fieldsOf, parameterLine } from "./fields.ts";
import type { Header, Linked, Operation, Parameter } from "./openapi.ts";
import { type Page, paragraphs, sectionOf } from "./pages.ts";
import { everyOperation, sectionsOn } from "./schemas.ts";

/** A page with all that operations share, which the page of each operation shows folded. */
export function everyOperationPage(api: Api, document: Linked): Page {
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const path = everyOperation(api);
  const markdown = paragraphs([
    sectionOf("## Request headers", CREDENTIALS_FILE[api], [
      ...credentialLines(document),
      ...linesOf(operations.flatMap(headersOf), document),
    ]),
    sectionOf(
      "## Bodies",
      "Bodies are JSON. Unknown keys are ignored. Setting an optional field to null is the same as leaving it out, unless the field can be null. Later versions may add fields to responses: ignore those that you do not know.",
    ),
    sectionOf("## Response headers", responseHeaderLines(document)),
    sectionOf(
      "## Errors",
      `The body of an error is \`{"error": "…"}\`, a text for people. Programs use the code in the header \`${ERROR_CODE}\`. The page of each operation lists its other errors, and [Error codes](/${api}/guides/error-codes) all codes that are not in this table.`,
      codesTables(document).shared,
    ),
    ...sectionsOn(path, document),
    document.webhooks &&
      webhooksSection(
        Object.values(document.webhooks).map(({ post }) => post),
        document,
      ),
  ]);
  return {
    api,
    group: "Start",
    kind: "shared",
    path,
    title: "Headers and errors of every operation",
    markdown,
  };
}

const headersOf = ({ parameters = [] }: Operation) => parameters.filter((each) => each.in === "header");

/** A line for each name, in the order in which they first occur. */
const linesOf = (parameters: Parameter[], document: Linked): string[] =>
  [...Map.groupBy(parameters, ({ name }) => name).values()].flatMap(([first]) =>
    first ? [parameterLine(first, document)] : [],
  );

/** The headers with credentials. Several bearer tokens are alternatives in one header. */
function credentialLines({ components }: Linked): string[] {
  const byHeader = Map.groupBy(Object.values(components.securitySchemes), ({ name }) => name);
  return [...byHeader].map(([name, alternatives]) => {
    const description = alternatives.map(({ description }) => description).join(" Or: ");
    return `- \`${name ?? "Authorization"}\` *string*, **required**: ${name ? "" : "`Bearer`, a space, and the token. "}${description}`;
  });
}

function responseHeaderLines(document: Linked): string[] {
  const code: Header = {
    description: "With every error: its code, for programs. Later versions may add codes.",
    schema: { type: "string" },
    example: "not_found",
  };
  return Object.entries({ ...document.components.headers, [ERROR_CODE]: code }).map(([name, header]) =>
    parameterLine({ ...header, name, in: "header", required: false }, document),
  );
}

function webhooksSection(webhooks: Operation[], document: Linked): string | false {
  const [first] = webhooks;
  return sectionOf(
    "## Webhooks",
    `To receive and verify webhooks, see [Webhooks](/external/guides/webhooks). ${first?.requestBody?.description}`,
    fieldsOf(webhooks[0]?.requestBody?.content["application/json"]?.schema ?? {}, document, "received").slice(
      0,
      5,
    ),
    "Headers:",
    linesOf(webhooks.flatMap(headersOf), document),
    "The response of your receiver:",
    Object.entries(first?.responses ?? {}).map(
      ([status, { description }]) =>
        `- ${status === "default" ? "Any other status" : `\`${status}\``}: ${description}`,
    ),
  );
}

const CREDENTIALS_FILE: Record<Api, string | undefined> = {
  external:
    "The samples read the credentials from the file `client.curl`: [Your first request](/external/guides/first-request) creates it.",
  platform:
    "The samples read the token from the file `platform.curl`: [Your first request](/platform/guides/first-request) creates it.",
  livekit: undefined,
};
