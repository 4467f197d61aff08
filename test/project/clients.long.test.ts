import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { API_NAMES } from "../../src/reference/apis.ts";
import { generateSdk } from "../../src/reference/sdk.ts";
import { requestsOf } from "./support/client_requests.ts";
import { compile, untyped } from "./support/compile.ts";
import { documentOf } from "./support/documents.ts";
import { everyType, sdkIn } from "./support/every_type.ts";

const newFolder = () => `./dist/test/${randomUUID()}`;

/** The build makes the SDKs of the other APIs. For organizations there is a package instead. */
const sdkOfExternal = newFolder();

beforeAll(() => generateSdk(documentOf("external"), sdkOfExternal));

afterAll(() => rmSync(sdkOfExternal, { recursive: true }));

const folderOf = (api: string) => (api === "external" ? sdkOfExternal : `./dist/client/${api}`);

it.each(API_NAMES)(
  "The SDK of the %s API compiles, and knows the type of each part of each operation",
  (api) => {
    const sdk = sdkIn(folderOf(api));
    const compiled = compile(everyType(documentOf(api), sdk), sdk.settings);
    expect(compiled.problems).toEqual([]);
    expect(untyped(compiled)).toEqual([]);
  },
);

it("A request that does not fit the API does not compile with the SDK", () => {
  // An expected error that does not occur is a problem too.
  expect(compile(requestsOf(sdkOfExternal), sdkIn(sdkOfExternal).settings).problems).toEqual([]);
});

describe("The check of clients", () => {
  it("finds `any`, `unknown` and types without data, at any depth", () => {
    const compiled = compile(`
      interface Tree { children: Tree[]; tags?: Record<string, string | number | null>; empty: Record<string, never> }
      export interface Known { tree: Tree; pair: [true, "a"] }
      export interface Open { list: { a: any }[]; pair: [string, unknown]; one?: null | { [key: string]: unknown } }
      export interface NoData { nothing: {}; never: never; call: () => string }
    `);
    expect(compiled.problems).toEqual([]);
    expect(untyped(compiled)).toEqual([
      "Open.list[].a: any",
      "Open.pair[1]: unknown",
      "Open.one[key]: unknown",
      "NoData.nothing: {}",
      "NoData.never: never",
      "NoData.call: () => string",
    ]);
  });

  const json = (schema = {}) => ({ description: "", content: { "application/json": { schema } } });
  const named = (operationId: string) => ({ operationId, summary: "", tags: [] });

  it("finds an operation that an SDK lacks", () => {
    const client = sdkIn(folderOf("livekit"));
    const get = { ...named("getMore"), responses: { 200: json() } };
    const { problems } = compile(everyType({ paths: { "/more": { get } } }, client), client.settings);
    expect(problems.join("\n")).toContain("getMore");
  });

  it("finds parts of an SDK that the document does not describe", async () => {
    const post = {
      ...named("createThing"),
      parameters: [{ in: "query" as const, name: "kind", schema: {} }],
      requestBody: json({ type: "object", properties: { name: {} } }),
      responses: { 201: json(), 422: json({ type: "array" }) },
    };
    const document = { openapi: "3.1.1", info: { title: "", version: "" }, paths: { "/things": { post } } };
    const folder = newFolder();
    onTestFinished(() => rmSync(folder, { recursive: true }));
    await generateSdk(document, folder);
    const client = sdkIn(folder);
    const compiled = compile(everyType(document, client), client.settings);
    expect(compiled.problems).toEqual([]);
    expect(untyped(compiled)).toEqual(
      expect.arrayContaining([
        "createThing.query kind: unknown",
        "createThing.body.name: unknown",
        "createThing.201: unknown",
        "createThing.422[]: unknown",
      ]),
    );
  });
});
