import { describe, expect, it } from "vitest";
import { API_NAMES } from "../../src/reference/apis.ts";
import { documentOf, objectsIn, operationsOf } from "./support/documents.ts";

/** A schema of the type must have one of the words, except the schemas at these paths. */
type Rule = [rule: string, type: string, words: string[], exceptions?: string[]];

const OF_CALL = "external paths /organization_users/{organization_user_id}/calls/{call_id}";
const listOf = (name: string) =>
  `${OF_CALL}/${name} get responses 200 content application/json schema properties ${name}`;

/**
 * LiveKit decides on these texts. The service refuses no event because of them: it ignores values that make no sense.
 */
const OF_LIVEKIT = "livekit components schemas ReportEventRequest";

const RULES: Rule[] = [
  [
    "A list has a maximum length",
    "array",
    ["maxItems"],
    // The contract lists these without pages. A call has only a few of each, but there is no limit.
    ["egresses", "consents", "participants"].map(listOf),
  ],
  [
    "A text has a maximum length, if its values are not listed",
    "string",
    ["maxLength", "enum", "const"],
    // They are as long as the call's texts.
    ["payload", "signatures items properties protected", "signatures items properties signature"].map(
      (text) => `external components schemas SignedVcon properties ${text}`,
    ),
  ],
  [
    "A text has a format or a pattern, if its values are not listed",
    "string",
    ["format", "pattern", "enum", "const"],
    [
      OF_LIVEKIT,
      // Any text is accepted. A wrong one is refused in the same way, whatever it looks like.
      "external components schemas ExchangeTokenRequest properties token_exchange properties token",
      "external components schemas CheckTokenRequest properties token_check properties token",
      ...["issuer", "audience", "email"].map(
        (claim) => `external components schemas TokenCheck properties ${claim}`,
      ),
      "platform components schemas RedeemAuthorizationCodeRequest properties code",
      "platform components schemas AcceptInviteRequest properties token",
      "platform components schemas RedeemVisitLinkRequest properties token",
      // Each text that is no region's name is refused with the names of the regions.
      "platform components schemas CreateOrganizationRequest properties organization properties region",
      "platform paths /organizations get parameters 2 schema",
    ],
  ],
  ["An integer has a minimum", "integer", ["minimum", "exclusiveMinimum"], [OF_LIVEKIT]],
  ["An integer has a maximum", "integer", ["maximum", "exclusiveMaximum"]],
  ["An integer has a format", "integer", ["format"]],
];

interface Secured {
  operationId: string;
  security?: Record<string, string[]>[];
}

/** Names of parameters that would put a secret into the log of every proxy. */
const SECRET = /secret|token|password|api-?key/i;

/** Names of parameters with a URL that the service would call. */
const URL_TO_CALL = /^(callback|redirect)|(_url|Url|-url)$/;

describe("OWASP's API Security Top 10", () => {
  const schemas = API_NAMES.flatMap((api) => [...objectsIn(documentOf(api), [api])]);
  const of = (type: string) => schemas.filter(({ object }) => [object.type].flat().includes(type));

  it.each(RULES)("%s", (_, type, words, exceptions = []) => {
    const found = of(type)
      .filter(({ object }) => !words.some((word) => word in object))
      .map(({ path }) => (path.startsWith(OF_LIVEKIT) ? OF_LIVEKIT : path));
    expect([...new Set(found)].sort()).toEqual(exceptions.toSorted());
  });

  it("An object accepts only the fields that it describes", () => {
    const open = of("object").filter(({ object }) => object.unevaluatedProperties ?? false);
    expect(open.map(({ path }) => path)).toEqual([]);
  });

  it("Only the contract's ids are integers, because each query limits its caller to their own", () => {
    const ids = API_NAMES.flatMap((api) => operationsOf(documentOf(api)))
      .flatMap(({ parameters = [] }) => parameters)
      .filter(({ name, schema }) => /^id$|(_id|Id|-id)$/.test(name) && schema.type === "integer");
    expect([...new Set(ids.map(({ name }) => name))].sort()).toEqual([
      "call_id",
      "egress_id",
      "id",
      "organization_id",
      "organization_user_id",
      "participant_id",
      // Administrators filter the access log by this id.
      "user_id",
      // Metrics can be narrowed to a room of the caller's organization.
      "waiting_room_id",
    ]);
  });

  describe.each(API_NAMES)("The document of the %s API", (api) => {
    const { paths, security, servers, components } = documentOf(api);
    const operations = operationsOf({ paths });

    it("requires all credentials of the API for every operation, in headers and without weak schemes", () => {
      const schemes = Object.entries(components.securitySchemes);
      // OAuth and JWTs have their own rules: tokens that expire, RFC 8725.
      for (const [, { name: _, description: __, ...scheme }] of schemes)
        expect([
          { type: "apiKey", in: "header" },
          { type: "http", scheme: "bearer" },
        ]).toContainEqual(scheme);
      expect(schemes).not.toEqual([]);
      const [required, ...others] = security;
      expect(others).toEqual([]);
      const names = Object.keys(required ?? {});
      expect(names.length).toBeGreaterThan(0);
      // An operation requires the API's credentials. Any narrower token that also opens it is an alternative by itself.
      const narrower = schemes.map(([name]) => name).filter((name) => !names.includes(name));
      for (const { operationId, security: [own, ...alternatives] = [] } of operations as Secured[]) {
        expect(Object.keys(own ?? {}), operationId).toEqual(names);
        for (const each of alternatives) {
          const [alone, ...more] = Object.keys(each);
          expect(narrower, operationId).toContain(alone);
          expect(more, operationId).toEqual([]);
        }
      }
    });

    it("has no secret in a path or a query, and no parameter with a URL to call", () => {
      const parameters = operations.flatMap((operation) => operation.parameters ?? []);
      const secret = parameters.filter((each) => each.in !== "header" && SECRET.test(each.name));
      expect([...secret, ...parameters.filter(({ name }) => URL_TO_CALL.test(name))]).toEqual([]);
    });

    it("names a server relative to the document, and marks internal APIs", () => {
      expect(servers).toEqual([
        { url: `/api/${api}`, description: "The production server", "x-internal": api !== "external" },
      ]);
    });

    it("documents 401, 429 and 500 for every operation", () => {
      const content = expect.anything();
      for (const { operationId, responses } of operations)
        expect(responses, operationId).toMatchObject({
          401: { content },
          429: { content, headers: { "Retry-After": content, RateLimit: content } },
          500: { content },
        });
    });

    it("documents a refusal of every operation with input that can be invalid", () => {
      const silent = operations.filter(({ parameters = [], requestBody, responses }) => {
        // An unknown path is 404, and a malformed bookmark is ignored.
        const canBeInvalid = parameters.some((each) => each.in !== "path" && each.name !== "X-D1-Bookmark");
        return (requestBody || canBeInvalid) && !(responses[400] ?? responses[422]);
      });
      expect(silent.map(({ operationId }) => operationId)).toEqual([]);
    });
  });
});
