import { randomUUID } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import openapiTS, { astToString, type OpenAPI3 } from "openapi-typescript";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { API_NAMES } from "../../src/reference/apis.ts";
import { generateSdk } from "../../src/reference/sdk.ts";
import { REQUESTS } from "./support/client_requests.ts";
import { compile, untyped } from "./support/compile.ts";
import { documentOf } from "./support/documents.ts";
import { CLIENTS, everyType } from "./support/every_type.ts";

const generators = Object.entries(CLIENTS);

/** What the build makes: for organizations there is a package instead of an SDK. */
const made = (api: string) => `./dist/client/${api}`;
const sdkOfExternal = `./dist/test/${randomUUID()}`;

beforeAll(() => generateSdk(documentOf("external"), sdkOfExternal));

afterAll(() => rmSync(sdkOfExternal, { recursive: true }));

const folderOf = (api: string, name: string) =>
  api === "external" && name === "hey-api" ? sdkOfExternal : made(api);

describe.each(API_NAMES)("A client of the %s API", (api) => {
  it.each(generators)(
    "by %s compiles, and knows the type of each part of each operation",
    (name, generator) => {
      const client = generator(folderOf(api, name));
      const compiled = compile(everyType(documentOf(api), client), client.settings);
      expect(compiled.problems).toEqual([]);
      expect(untyped(compiled)).toEqual([]);
    },
  );
});

it.each(generators)(
  "With a client by %s, a request that does not fit the API does not compile",
  (name, generator) => {
    const folder = folderOf("external", name);
    const requests = REQUESTS[name as keyof typeof CLIENTS].replaceAll(made("external"), folder);
    // An error that is expected and does not come is a problem too.
    expect(compile(requests, generator(folder).settings).problems).toEqual([]);
  },
);

describe("The check of clients", () => {
  it("finds `any`, `unknown` and what is no data, however deep", () => {
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

  const json = (content: object) => ({ description: "", content: { "application/json": content } });

  it.each(generators)("finds an operation that a client by %s does not have", (_, generator) => {
    const client = generator("./dist/client/livekit");
    const get = { operationId: "getMore", responses: { 200: json({}) } };
    const { problems } = compile(everyType({ paths: { "/more": { get } } }, client), client.settings);
    expect(problems.join("\n")).toContain("getMore");
  });

  it.each(generators)("finds in a client by %s what the document says nothing of", async (_, generator) => {
    const post = {
      operationId: "createThing",
      parameters: [{ in: "query" as const, name: "kind", schema: {} }],
      requestBody: json({ schema: { type: "object", properties: { name: {} } } }),
      responses: { 201: json({}), 422: json({ schema: { type: "array" } }) },
    };
    const document = { openapi: "3.1.1", info: { title: "", version: "" }, paths: { "/things": { post } } };
    const client = generator(await generate(document));
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

/** Makes both clients of a document, for a test. */
async function generate(document: object): Promise<string> {
  const folder = `dist/test/${randomUUID()}`;
  mkdirSync(folder, { recursive: true });
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(`${folder}/api.d.ts`, astToString(await openapiTS(document as OpenAPI3)));
  await generateSdk(document, `${folder}/api`);
  return `./${folder}/api`;
}
