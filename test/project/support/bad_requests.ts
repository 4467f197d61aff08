/**
 * Turns good requests into bad ones. published_limits.long.test.ts tries the values of each field by themselves: here they meet wrong
 * JSON, paths, queries, headers and methods.
 */
import type { Chance } from "../../support/chance.ts";

export interface Draft {
  method: string;
  /** The path without the base path of the API, but with the query. */
  path: string;
  headers: Record<string, string>;
  body?: unknown;
  /** Paths to all values that a body may have, including values that this body lacks. */
  fields: string[][];
  /** The body as text, once that is wrong. */
  text?: string;
}

type Mutation = (draft: Draft, chance: Chance) => Draft;

const words = (text: string) => text.split(" ");

const ODD_TEXTS = [
  ...words(
    "null true 0 -0 01 +1 1.0 0x10 1e3 １ 😀 é \u202e \ufeff \ud83d \0 ' \" \\ % ` @ __proto__ constructor ../.. {} []",
  ),
  ...["", " ", "a@example.com\n", "'; drop table users; --", "9".repeat(30), "é".repeat(5000)],
];

const ODD_VALUES = [null, -0, 1.5, 1e21, 2 ** 53, [[]], { length: 3 }, JSON.parse('{"__proto__":{"a":1}}')];

const some = <Value>(chance: Chance, most: number, make: () => Value): Value[] =>
  Array.from({ length: chance.below(most + 1) }, make);

function oddText(chance: Chance): string {
  if (chance.is(0.5)) return chance.pick(ODD_TEXTS);
  const characters = chance.pick([0x80, 0x3000, 0x110000]);
  return some(chance, 30, () => String.fromCodePoint(chance.below(characters))).join("");
}

function oddValue(chance: Chance, depth = 3): unknown {
  const inner = () => oddValue(chance, depth - 1);
  if (depth > 0 && chance.is(0.2)) return some(chance, 3, inner);
  if (depth > 0 && chance.is(0.2))
    return Object.fromEntries(some(chance, 3, () => [oddText(chance), inner()]));
  return chance.is(0.5) ? chance.pick(ODD_VALUES) : oddText(chance);
}

/** Part of a path or a query: an encoded text, or a wrong encoding. */
const oddSegment = (chance: Chance): string =>
  chance.is(0.5)
    ? encodeURIComponent(oddText(chance).toWellFormed())
    : chance.pick(["", ...words("% %zz %ff %00 %c0%af .. . %2e%2e %2F ; :id * 0 -1 1.5")]);

/** A copy with the value at one path replaced. */
function replaced(value: unknown, [first, ...rest]: string[], by: unknown): unknown {
  if (first === undefined) return by;
  const copy: Record<string, unknown> = Array.isArray(value) ? [...value] : Object.assign({}, value);
  copy[first] = replaced(copy[first], rest, by);
  return copy;
}

const replaceValue: Mutation = (draft, chance) => ({
  ...draft,
  body: replaced(draft.body, chance.pick(draft.fields), oddValue(chance)),
});

const INSERTED = ["", "{", "]", ",", '"', "\\", "\0", "\ufeff", "NaN", "1e999", "//", "\ud83d"];

/** Replaces a character of the JSON, or cuts the JSON off. */
const breakJson: Mutation = (draft, chance) => {
  const json = draft.text ?? JSON.stringify(draft.body) ?? "";
  const place = chance.below(json.length + 1);
  const rest = chance.is(0.2) ? "" : chance.pick(INSERTED) + json.slice(place + 1);
  return { ...draft, text: json.slice(0, place) + rest };
};

const changePath: Mutation = (draft, chance) => {
  const [path = "", query] = draft.path.split("?");
  const segments = path.split("/");
  const added = chance.is(2 / 3) ? [oddSegment(chance)] : [];
  segments.splice(1 + chance.below(segments.length), chance.below(2), ...added);
  return { ...draft, path: segments.join("/") + (query ? `?${query}` : "") };
};

const PARAMETERS = words("page per_page date_start user_id event from to type after");

const addToQuery: Mutation = (draft, chance) => {
  const name = () => (chance.is(0.5) ? chance.pick(PARAMETERS) : oddSegment(chance));
  const query = some(chance, 4, () => `${name()}=${oddSegment(chance)}`).join("&");
  return { ...draft, path: `${draft.path}${draft.path.includes("?") ? "&" : "?"}${query}` };
};

const HEADERS = words(
  "Content-Type Content-Encoding Accept X-D1-Bookmark Idempotency-Key X-Acting-User X-Purpose-Of-Use X-Request-Id Authorization X-Client-ID",
);
const ODD_HEADERS = ["Bearer ", "a".repeat(10_000), "application/json; charset=utf-16", "text/plain"];

const changeHeader: Mutation = (draft, chance) => {
  const value = chance.is(0.5) ? oddText(chance) : chance.pick(ODD_HEADERS);
  // HTTP headers hold bytes, without line breaks.
  const bytes = value.replace(/[^\t\x20-\x7e\x80-\xff]/g, "?").trim();
  return { ...draft, headers: { ...draft.headers, [chance.pick(HEADERS)]: bytes } };
};

const METHODS = words("GET POST PUT DELETE PATCH HEAD OPTIONS PROPFIND get x");

const changeMethod: Mutation = (draft, chance) => ({ ...draft, method: chance.pick(METHODS) });

const MUTATIONS: Mutation[] = [
  ...[replaceValue, replaceValue, replaceValue, replaceValue, breakJson, breakJson, breakJson, breakJson],
  ...[changePath, changePath, changePath, addToQuery, addToQuery, changeHeader, changeHeader, changeMethod],
];

export function mutated(draft: Draft, chance: Chance): Draft {
  const mutations = Array.from({ length: 1 + chance.below(3) }, () => chance.pick(MUTATIONS));
  return mutations.reduce((now, mutation) => mutation(now, chance), draft);
}
