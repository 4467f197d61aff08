import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { API_NAMES } from "../../src/reference/apis.ts";
import { generateSdk } from "../../src/reference/sdk.ts";
import { compile, untyped } from "./support/compile.ts";
import { documentOf } from "./support/documents.ts";
import { everyType, sdkIn } from "./support/every_type.ts";

/** The build makes the SDKs of the other APIs. For organizations there is a package instead. */
const sdkOfExternal = `./dist/test/${randomUUID()}`;

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
