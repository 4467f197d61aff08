import { describe, expect, it } from "vitest";
import { API_NAMES } from "../../src/reference/apis.ts";
import { documentOf, type Json, objectsIn, operationsOf } from "./support/documents.ts";

/** A rule for the schemas of a type, and the places where it does not hold, for a reason. */
interface Rule {
  rule: string;
  type: string;
  holds: (schema: Json) => boolean;
  exceptions?: string[];
}

const hasOneOf =
  (...words: string[]) =>
  (schema: Json) =>
    words.filter((word) => word in schema).length === 1;

const hasAnyOf =
  (...words: string[]) =>
  (schema: Json) =>
    words.some((word) => word in schema);

const OF_CALL = "external paths /organization_users/{organization_user_id}/calls/{call_id}";
const listOf = (name: string) =>
  `${OF_CALL}/${name} get responses 200 content application/json schema properties ${name}`;

/** What these texts are, LiveKit decides. The service refuses no event for them: it ignores what makes no sense. */
const OF_LIVEKIT = "livekit components schemas ReportEventRequest";

const RULES: Rule[] = [
  {
    rule: "A list has a maximum length",
    type: "array",
    holds: hasAnyOf("maxItems"),
    // The contract has them without pages. A call can have any number of recordings and participants: there are a few.
    exceptions: ["egresses", "consents", "participants"].map(listOf),
  },
  {
    rule: "A text has a maximum length, if its values are not listed",
    type: "string",
    holds: hasAnyOf("maxLength", "enum", "const"),
  },
  {
    rule: "A text has a format or a pattern, if its values are not listed",
    type: "string",
    holds: hasAnyOf("format", "pattern", "enum", "const"),
    exceptions: [
      OF_LIVEKIT,
      // Any text is taken. A wrong one is refused in the same way, whatever it looks like.
      "external components schemas ExchangeTokenRequest properties token_exchange properties token",
      "platform components schemas RedeemAuthorizationCodeRequest properties code",
      "platform components schemas AcceptInviteRequest properties token",
      "platform components schemas RedeemVisitLinkRequest properties token",
    ],
  },
  { rule: "An integer has a minimum", type: "integer", holds: hasOneOf("minimum", "exclusiveMinimum") },
  { rule: "An integer has a maximum", type: "integer", holds: hasOneOf("maximum", "exclusiveMaximum") },
  { rule: "An integer has a size", type: "integer", holds: hasAnyOf("format") },
  {
    rule: "An object takes nothing that it does not describe",
    type: "object",
    holds: ({ unevaluatedProperties = false }) => unevaluatedProperties === false,
  },
];

/** Names of parameters that would have a secret in the log of every proxy. */
const SECRET = /secret|token|password|api-?key/i;

/** Names of parameters with an address to which the service would send something. */
const URL_TO_CALL = /^(callback|redirect)|(_url|Url|-url)$/;

describe("As OWASP's API Security Top 10 wants it,", () => {
  it.each(RULES)("$rule", ({ type, holds, exceptions = [] }) => {
    const found = API_NAMES.flatMap((api) =>
      [...objectsIn(documentOf(api), [api])]
        .filter(({ object }) => [object.type].flat().includes(type) && !holds(object))
        .map(({ path }) => (path.startsWith(OF_LIVEKIT) ? OF_LIVEKIT : path)),
    );
    expect([...new Set(found)].sort()).toEqual(exceptions.toSorted());
  });

  it("an id is an integer only where the contract says so: each query says what its caller may reach", () => {
    const ids = API_NAMES.flatMap((api) => operationsOf(documentOf(api)))
      .flatMap(({ parameters = [] }) => parameters)
      .filter(({ name, schema }) => /^id$|(_id|Id|-id)$/.test(name) && schema.type === "integer");
    expect([...new Set(ids.map(({ name }) => name))].sort()).toEqual([
      "call_id",
      "egress_id",
      "id",
      "organization_id",
      "organization_user_id",
      // Of the access log, where administrators ask for entries about somebody.
      "user_id",
    ]);
  });

  describe.each(API_NAMES)("in the document of the %s API,", (api) => {
    const { paths, security, servers, components } = documentOf(api);
    const operations = operationsOf({ paths });

    it("every operation needs all credentials of the API, in headers, by no scheme that is known as weak", () => {
      const schemes = Object.entries(components.securitySchemes);
      // OAuth and JWTs have rules of their own: tokens that expire, RFC 8725.
      for (const [, { name: _, description: __, ...scheme }] of schemes)
        expect([
          { type: "apiKey", in: "header" },
          { type: "http", scheme: "bearer" },
        ]).toContainEqual(scheme);
      expect(schemes).not.toEqual([]);
      expect(security).toEqual([Object.fromEntries(schemes.map(([name]) => [name, []]))]);
      expect(operations.filter((operation) => "security" in operation)).toEqual([]);
    });

    it("no path or query has a secret, and no parameter the URL of something to call", () => {
      const parameters = operations.flatMap((operation) => operation.parameters ?? []);
      const secret = parameters.filter((each) => each.in !== "header" && SECRET.test(each.name));
      expect([...secret, ...parameters.filter(({ name }) => URL_TO_CALL.test(name))]).toEqual([]);
    });

    it("the server is reached as the document is, and the document says for whom it is", () => {
      expect(servers).toEqual([
        { url: `/api/${api}`, description: "The production server", "x-internal": api !== "external" },
      ]);
    });

    it("every operation says what a caller gets who is unknown or asks too often, and when the service fails", () => {
      const content = expect.anything();
      for (const { operationId, responses } of operations)
        expect(responses, operationId).toMatchObject({
          401: { content },
          429: { content, headers: { "Retry-After": content, RateLimit: content } },
          500: { content },
        });
    });

    it("every operation with something that can be invalid says how it is refused", () => {
      const silent = operations.filter(({ parameters = [], requestBody, responses }) => {
        // A path that leads nowhere is 404, and a malformed bookmark is ignored.
        const canBeInvalid = parameters.some((each) => each.in !== "path" && each.name !== "X-D1-Bookmark");
        return (requestBody || canBeInvalid) && !(responses[400] ?? responses[422]);
      });
      expect(silent.map(({ operationId }) => operationId)).toEqual([]);
    });
  });
});
