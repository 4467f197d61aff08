/**
 * Turns good requests into bad ones. published_limits.long.test.ts tries the values of each field by themselves: here they meet wrong
 * JSON, paths, queries, headers and methods.
 */
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

const words = (text: string) => text.split(" ");

const oddText = fc.oneof(
  fc.constantFrom(
    ...words(
      "null true 0 -0 01 +1 1.0 0x10 1e3 １ 😀 é \u202e \ufeff \ud83d \0 ' \" \\ % ` @ __proto__ constructor ../.. {} []",
    ),
    ...["", " ", "a@example.com\n", "'; drop table users; --", "9".repeat(30), "é".repeat(5000)],
  ),
  fc.string({ unit: "binary", maxLength: 30 }),
);

const oddValue = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    -0,
    1.5,
    1e21,
    2 ** 53,
    [[]],
    { length: 3 },
    JSON.parse('{"__proto__":{"slug":"x"}}'),
  ),
  oddText,
  fc.jsonValue({ maxDepth: 3 }),
);

/** A copy with the value at one path replaced. */
function replaced(value: unknown, [first, ...rest]: string[], by: unknown): unknown {
  if (first === undefined) return by;
  const copy: Record<string, unknown> = Array.isArray(value) ? [...value] : Object.assign({}, value);
  copy[first] = replaced(copy[first], rest, by);
  return copy;
}

const valueMutation = fc.tuple(fc.nat(), oddValue).map(
  ([at, odd]): Mutation =>
    (draft) => ({ ...draft, body: replaced(draft.body, draft.fields[at % draft.fields.length] ?? [], odd) }),
);

/** Inserts a text into the JSON, or cuts it off. */
const jsonMutation = fc
  .tuple(
    fc.nat(),
    fc.option(fc.constantFrom("", "{", "]", ",", '"', "\\", "\0", "\ufeff", "NaN", "1e999", "//", "\ud83d")),
  )
  .map(
    ([at, inserted]): Mutation =>
      (draft) => ({
        ...draft,
        asText(json) {
          const place = at % (json.length + 1);
          return json.slice(0, place) + (inserted === null ? "" : inserted + json.slice(place + 1));
        },
      }),
  );

/** Parts of paths and queries: encoded texts, and wrong encodings. */
const oddSegment = fc.oneof(
  oddText.map((text) => encodeURIComponent(text.toWellFormed())),
  fc.constantFrom("", ...words("% %zz %ff %00 %c0%af .. . %2e%2e %2F ; :id * 0 -1 1.5")),
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

const PARAMETERS = words("page per_page date_start user_id event from to type after");

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

const HEADERS = words(
  "Content-Type Content-Encoding Accept X-D1-Bookmark Idempotency-Key X-Acting-User X-Purpose-Of-Use X-Request-Id Authorization X-Client-ID",
);

/** HTTP headers hold bytes, without line breaks. */
const oddHeader = fc
  .oneof(
    oddText,
    fc.constantFrom("Bearer ", "a".repeat(10_000), "application/json; charset=utf-16", "text/plain"),
  )
  .map((text) => text.replace(/[^\t\x20-\x7e\x80-\xff]/g, "?").trim());

const headerMutation = fc.tuple(fc.constantFrom(...HEADERS), oddHeader).map(
  ([name, value]): Mutation =>
    (draft) => ({ ...draft, headers: { ...draft.headers, [name]: value } }),
);

const methodMutation = fc.constantFrom(...words("GET POST PUT DELETE PATCH HEAD OPTIONS PROPFIND get x")).map(
  (method): Mutation =>
    (draft) => ({ ...draft, method }),
);

export const mutations = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: valueMutation },
    { weight: 4, arbitrary: jsonMutation },
    { weight: 3, arbitrary: pathMutation },
    { weight: 2, arbitrary: queryMutation },
    { weight: 2, arbitrary: headerMutation },
    { weight: 1, arbitrary: methodMutation },
  ),
  { minLength: 1, maxLength: 3 },
);

export function mutated(draft: Draft, changes: Mutation[]): Sent {
  const { method, path, headers, body, asText } = changes.reduce((now, change) => change(now), draft);
  const json = JSON.stringify(body);
  return { method, path, headers, ...(json === undefined ? {} : { body: asText(json) }) };
}
