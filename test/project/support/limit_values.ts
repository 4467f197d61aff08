/** Values at the published limits of a field and just beyond them, and values of all other kinds. */
import { type Schema, Validator } from "@cfworker/json-schema";
import fc from "fast-check";
import { HTTP_URL } from "../../../src/http/wire.ts";
import { isOf, type JsonSchema } from "./request_schemas.ts";

/** Whether the document allows a value. Lengths are in characters, as in all of JSON Schema. */
export function allowedBy({ items: _, properties: __, ...own }: JsonSchema) {
  // Items and properties are checked separately, as places of their own.
  const validator = new Validator(own as Schema, "2020-12");
  return (value: unknown) => validator.validate(value).valid;
}

/** @param example a valid value */
export function valuesOf(schema: JsonSchema, example: unknown): unknown[] {
  const values = [example, null, true, false, "", "true", -1, 0, 1.5, [], {}, ...(schema.enum ?? [])];
  if (schema.enum) values.push("other", String(schema.enum[0]).toUpperCase(), ` ${schema.enum[0]}`);
  else if (isOf(schema, "string")) values.push(...textsOf(schema, String(example ?? "")));
  if (isOf(schema, "integer") || isOf(schema, "number")) values.push(...numbersOf(schema));
  if (isOf(schema, "array")) values.push(...listsOf(schema, example));
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()].filter(
    (value) => value !== undefined,
  );
}

const around = (minimum: number | undefined, maximum: number | undefined) => [
  ...(minimum === undefined ? [] : [minimum - 1, minimum]),
  ...(maximum === undefined ? [] : [maximum, maximum + 1]),
];

const lengths = (minimum = 0, maximum?: number) => around(minimum, maximum).filter((length) => length >= 0);

const numbersOf = ({ minimum, maximum }: JsonSchema) => [
  ...around(minimum, maximum),
  ...random(fc.maxSafeNat()),
  ...random(fc.double({ noNaN: true, noDefaultInfinity: true })),
];

const listsOf = ({ minItems, maxItems, items }: JsonSchema, example: unknown) =>
  lengths(minItems, maxItems).map((length) =>
    Array.from({ length }, (_, n) =>
      numbered((example as unknown[] | undefined)?.[0] ?? items?.minimum ?? items?.enum?.[0], n),
    ),
  );

/** A copy of the element that differs from the others of its list. Its text is short, so that many fit into a body. */
function numbered(element: unknown, n: number): unknown {
  if (typeof element !== "object") return element;
  const own: Record<string, unknown> = { key: `key-${n}`, start_time: n, end_time: n, text: "a" };
  return Object.fromEntries(Object.entries(element ?? {}).map(([name, value]) => [name, own[name] ?? value]));
}

/** The format of a text. Addresses and URLs have a pattern instead, which is stricter than the format. */
const kindOf = ({ format, pattern = "" }: JsonSchema) =>
  format ?? (pattern.includes("]+@[") ? "email" : pattern === HTTP_URL ? "uri" : "");

const textsOf = (schema: JsonSchema, example: string) => textsOfKind(schema, example, kindOf(schema));

const textsOfKind = ({ minLength, maxLength, pattern }: JsonSchema, example: string, kind: string) => [
  ...lengths(minLength, maxLength).flatMap((length) => [
    ...["a", "0", "😀"].map((character) => character.repeat(length)),
    ...(LONG[kind]?.(example, length) ?? []),
  ]),
  ...ODD_TEXTS.flatMap((odd) => [odd, `a${odd}a`, example + odd]),
  ...(OF_FORMAT[kind] ?? []),
  ...random(fc.string({ unit: "binary", maxLength: 40 })),
  ...(pattern ? random(fc.stringMatching(new RegExp(pattern, "u"))) : []),
  ...(RANDOM[kind] ? random(RANDOM[kind]) : []),
];

/** The sample is the same in every run. */
const random = <Value>(values: fc.Arbitrary<Value>) => fc.sample(values, { numRuns: 10, seed: 1 });

const RANDOM: Record<string, fc.Arbitrary<string>> = {
  "date-time": fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  email: fc.emailAddress(),
  uri: fc.webUrl({ validSchemes: ["https"], withQueryParameters: true }),
};

/** Texts of each format, with this length. */
const LONG: Record<string, (example: string, length: number) => string[]> = {
  "date-time": (_, length) => [`2026-01-31T09:30:00.${"0".repeat(Math.max(1, length - 21))}Z`],
  uri: (example, length) => [`${example}/`.padEnd(length, "a")],
  email: (_, length) => [`a@${[60, 60, 60].map((n) => "b".repeat(n)).join(".")}.`.padEnd(length, "c")],
};

const words = (text: string) => text.split(" ");

const ODD_TEXTS = [
  ...words(
    '\0 \x01 \t \n \x1f \x7f \x80 \x9f \u200b \u2028 \ufeff \ud83d \udc00 é 😀 A Z _ - -- \' " "" \\ ` @ :',
  ),
  ...words(". .. / // /../ /./ /a/.. 1 +1 1.0 1e3 １ z +00:00 +00 %00"),
  ...[" ", "  ", "\u00a0", "\u3000", "a b", "9".repeat(16), "9".repeat(1000), "9".repeat(1001)],
];

const OF_FORMAT: Record<string, string[]> = {
  date: words("2026-01-31 2026-02-29 2028-02-29 2026-13-01 2026-1-1 0000-01-01 9999-12-31 20260131"),
  "date-time": [
    ...words("09:30:00Z 09:30:00z 09:30Z 09:30:00 09:30:00+01:00 09:30:00-00:00 09:30:00+0100 09:30:00+01"),
    ...words("23:59:60Z 24:00:00Z 09:30:00+23:59 09:30:00+24:00 09:30:00.1234567891Z 09:30:00,5Z"),
  ]
    .map((time) => `2026-06-30T${time}`)
    .concat(words("2026-01-31t09:30:00z 2026-02-30T00:00:00Z 0000-01-01T00:00:00Z 9999-12-29T23:59:59Z"))
    .concat(words("9999-12-30T00:00:00Z 9999-12-31T23:59:59Z 2026-01-31 -000001-01-01T00:00:00Z")),
  email: [
    ...words(
      "a@b a@b.co A@B.CO a..b@c.de .a@b.de a.@b.de a@[127.0.0.1] a@1.2.3.4 ä@b.de a@b-.de a@b_c.de a@b.",
    ),
    ...[" a@b.co ", '"a b"@c.de', `${"a".repeat(65)}@b.de`, `a@${"b".repeat(64)}.de`, "a@b.co, c@d.co"],
  ],
  uri: [
    ...words(
      "https://a.example.com http://a.example.com https://u:p@a.example.com https://127.0.0.1/ https://[::1]/",
    ),
    ...words(
      "https://localhost/ http://localhost/ https://a.local/ https://a.example.com:8443/ ftp://a.example.com",
    ),
    ...words("urn:a:b https://münchen.de/ /relative https://a.example.com/%zz https:a.example.com"),
    ...["https://a.example.com/a b", "https://a.example.com\\b", " https://a.example.com "],
  ],
};
