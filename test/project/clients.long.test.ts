import { expect, it } from "vitest";
import { API_NAMES } from "../../src/reference/apis.ts";
import { compile, untyped } from "./support/compile.ts";
import { documentOf } from "./support/documents.ts";
import { everyType, sdkIn } from "./support/every_type.ts";

// For organizations there is a package instead: client_package.long.test.ts.
it.each(API_NAMES.filter((api) => api !== "external"))(
  "The SDK of the %s API compiles, and knows the type of each part of each operation",
  (api) => {
    const sdk = sdkIn(`./dist/client/${api}`);
    const compiled = compile(everyType(documentOf(api), sdk), sdk.settings);
    expect(compiled.problems).toEqual([]);
    expect(untyped(compiled)).toEqual([]);
  },
);
