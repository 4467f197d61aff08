/** Turns good requests into bad ones. */
import fc from "fast-check";

/** A request as it is sent, readable in the output of a failed run. */
export interface Sent {
  method: string;
  /** The path without the base path of the API, but with the query. */
  path: string;
  headers: Record<string, string>;
  body?: string;
}

/** A good request, with its body before it becomes text. */
export interface Draft extends Omit<Sent, "body"> {
  body?: unknown;
  /** Paths to all values that a body may have, including values that this body lacks. */
  fields: string[][];
  /** Changes the body's text. */
  asText: (json: string) => string;
}

type Mutation = (draft: Draft) => Draft;

/** Replaced by a number that JSON.stringify cannot write. */
const HUGE = "huge-number-1e999";

const oddTexts = [
  ..."null true 0 -0 01 +1 1.0 0x10 1e3 １ 😀 é \u212a \u202e \ufeff \ud83d \udc00x \0 x\0y ' \" \\ % ` @ a@b".split(
    " ",
  ),
  ..."__proto__ constructor toString ../.. / a/b $1 {} [] - T 2026-01-31 2026-02-30T00:00:00Z".split(" "),
  ..."2026-01-31T09:30:00+25:00 0000-01-01T00:00:00Z https:// http://[ javascript:0".split(" "),
  ...["", " ", "a@example.com\n", "'; drop table users; --", "9".repeat(30), `${"0".repeat(300)}1`],
  ...["x".repeat(256), "é".repeat(5000)],
];

/** Text of any characters, including lone surrogates. */
const anyText = fc
  .array(fc.integer({ min: 0, max: 0x10ffff }), { maxLength: 30 })
  .map((points) => String.fromCodePoint(...points));

const oddText = fc.oneof(fc.constantFrom(...oddTexts), anyText);

const oddValue = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, 0, -0, -1, 1.5, 1e21, 5e-324, 2 ** 53, 2 ** 31, HUGE, [], {}, [
    [],
  ]),
  fc.constantFrom<unknown>({ length: 3 }, [null], [0, ""], JSON.parse('{"__proto__":{"slug":"x"}}'), {
    toString: 0,
  }),
  oddText,
  fc.integer(),
  fc.jsonValue({ maxDepth: 3 }),
);

/** HTTP headers hold bytes, without line breaks. */
const oddHeader = fc
  .oneof(
    oddText,
    fc.constantFrom("Bearer ", "a".repeat(10_000), "application/json; charset=utf-16", "text/plain"),
  )
  .map((text) => text.replace(/[^\t\x20-\x7e\x80-\xff]/g, "?").trim());

const pick = <T>(from: T[], at: number): T | undefined => from[at % from.length];

/** Paths to all values of a body, the body itself first. */
function pathsIn(value: unknown, path: string[] = []): string[][] {
  if (typeof value !== "object" || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([name, each]) => pathsIn(each, [...path, name]))];
}

/** A copy with the value at one path replaced. Undefined removes it. */
function replaced(value: unknown, [first, ...rest]: string[], by: (value: unknown) => unknown): unknown {
  if (first === undefined) return by(value);
  const copy: Record<string, unknown> = Array.isArray(value) ? [...value] : Object.assign({}, value);
  copy[first] = replaced(copy[first], rest, by);
  return copy;
}

/** Repeats the value up to about 100 kB, as a longer list or a longer text. */
function manyOf(value: unknown): unknown {
  const [first] = Array.isArray(value) ? value : [];
  const json = String(JSON.stringify(first ?? value));
  const times = Math.min(1200, Math.ceil(100_000 / json.length));
  return Array.isArray(value) ? Array(times).fill(first) : json.repeat(times);
}

const inBody = (by: (value: unknown, odd: unknown) => unknown) =>
  fc.tuple(fc.nat(), oddValue).map(
    ([at, odd]): Mutation =>
      (draft) => ({
        ...draft,
        body: replaced(draft.body, pick([...draft.fields, ...pathsIn(draft.body)], at) ?? [], (value) =>
          by(value, odd),
        ),
      }),
  );

const bodyMutation = fc.oneof(
  { weight: 6, arbitrary: inBody((_, odd) => odd) },
  { weight: 2, arbitrary: inBody(() => undefined) },
  inBody((value) => [value]),
  inBody((value) => ({ value })),
  inBody((value) => manyOf(value)),
  fc.tuple(oddText, oddValue).map(
    ([name, odd]): Mutation =>
      (draft) => ({
        ...draft,
        body: replaced(draft.body, [Object.keys(draft.body ?? {})[0] ?? "", name], () => odd),
      }),
  ),
  fc
    .tuple(
      fc.nat(),
      fc.constantFrom("", "{", "]", ",", '"', "\\", "\0", "\ufeff", "NaN", "1e999", "//", "\ud83d"),
    )
    .map(
      ([at, inserted]): Mutation =>
        (draft) => ({
          ...draft,
          asText: (json) =>
            json.slice(0, at % (json.length + 1)) + inserted + json.slice((at % (json.length + 1)) + 1),
        }),
    ),
  fc.nat().map(
    (at): Mutation =>
      (draft) => ({ ...draft, asText: (json) => json.slice(0, at % (json.length + 1)) }),
  ),
);

const METHODS = ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "PROPFIND", "get", "x"];

/** Segments of paths: encoded texts, and wrong encodings. */
const oddSegment = fc.oneof(
  oddText.map((text) => encodeURIComponent(text.toWellFormed())),
  fc.constantFrom(
    "%",
    "%zz",
    "%ff",
    "%00",
    "%c0%af",
    "..",
    ".",
    "",
    "%2e%2e",
    "%2F",
    ";",
    ":id",
    "*",
    "0",
    "-1",
    "1.5",
  ),
);

const pathMutation = fc.tuple(fc.nat(), oddSegment, fc.constantFrom("replace", "insert", "drop")).map(
  ([at, segment, how]): Mutation =>
    (draft) => {
      const [path = "", query] = draft.path.split("?");
      const segments = path.split("/");
      const position = 1 + (at % segments.length);
      segments.splice(position, how === "insert" ? 0 : 1, ...(how === "drop" ? [] : [segment]));
      return { ...draft, path: segments.join("/") + (query ? `?${query}` : "") };
    },
);

const PARAMETERS = [
  "page",
  "per_page",
  "date_start",
  "date_end",
  "user_id",
  "event",
  "from",
  "to",
  "type",
  "after",
];

const queryMutation = fc
  .array(fc.tuple(fc.oneof(fc.constantFrom(...PARAMETERS), oddSegment), oddSegment), {
    minLength: 1,
    maxLength: 4,
  })
  .map(
    (parameters): Mutation =>
      (draft) => ({
        ...draft,
        path: `${draft.path}${draft.path.includes("?") ? "&" : "?"}${parameters.map((each) => each.join("=")).join("&")}`,
      }),
  );

const HEADERS = [
  "Content-Type",
  "Content-Encoding",
  "Accept",
  "X-D1-Bookmark",
  "Idempotency-Key",
  "X-Acting-User",
  "X-Purpose-Of-Use",
  "X-Request-Id",
];
const CREDENTIALS = ["X-Client-ID", "X-Client-Secret", "Authorization"];

const headerMutation = fc
  .tuple(fc.constantFrom(...HEADERS, ...HEADERS, ...HEADERS, ...CREDENTIALS), oddHeader)
  .map(
    ([name, value]): Mutation =>
      (draft) => ({ ...draft, headers: { ...draft.headers, [name]: value } }),
  );

const methodMutation = fc.constantFrom(...METHODS).map(
  (method): Mutation =>
    (draft) => ({ ...draft, method }),
);

/** Most mutations change the body, if the method has one. */
export const mutations = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: bodyMutation },
    { weight: 3, arbitrary: pathMutation },
    { weight: 2, arbitrary: queryMutation },
    { weight: 2, arbitrary: headerMutation },
    { weight: 1, arbitrary: methodMutation },
  ),
  { minLength: 1, maxLength: 3 },
);

export function mutated(draft: Draft, changes: Mutation[]): Sent {
  const { method, path, headers, body, asText } = changes.reduce((now, change) => change(now), draft);
  const json = JSON.stringify(body)?.replaceAll(`"${HUGE}"`, "1e999");
  return { method, path, headers, ...(json === undefined ? {} : { body: asText(json) }) };
}
