import { expect, it } from "vitest";
import { SYSTEM_USER_ID } from "../../src/organization/members/organization_users.table.ts";
import { API_NAMES } from "../../src/reference/apis.ts";
import { guidesOf } from "../../src/reference/guides.ts";
import { guideValues } from "../../src/reference/info.ts";
import { words } from "../support/words.ts";
import {
  bodiesOf,
  type Document,
  documentOf,
  examplesOf,
  type Json,
  operationsOf,
  resolved,
} from "./support/documents.ts";

/** Components that show the same kind of thing. They share one series of ids. */
const SAME: Record<string, string> = {
  CreatedUser: "OrganizationUser",
  User: "OrganizationUser",
  ReportedCall: "Call",
  EgressWithUrl: "Egress",
  InviteWithAcceptUrl: "Invite",
  BulkInviteProgress: "BulkInvite",
  IssuedApiClient: "ApiClient",
  WebhookEndpointWithSecret: "WebhookEndpoint",
};

/** Fields that never change, so they are equal in all examples of one thing. */
const FIXED = words`
  organization_id organization_user_id user_id email key egress_id
  waiting_room_id created_at started_at client_id issuer type object_changes`;

/** Fields that only an update changes. */
const NAMING = ["name", "display_name", "slug", "secret_hint", "waiting_room_slug", "sub_waiting_room_slug"];

/** The components in which a field of FIXED may change. */
const CHANGES: Record<string, string> = {
  email: "OrganizationUser",
  user_id: "WaitingRoomSub",
  started_at: "Egress",
};

interface Shown {
  where: string;
  /** A component and an id. */
  thing: string;
  value: Json;
}

/** Everything with an id that the examples of a document show. */
function* shownIn(document: Document): Generator<Shown> {
  for (const operation of operationsOf(document))
    for (const [where, media] of bodiesOf(operation))
      for (const example of examplesOf(media)) yield* shown(document, where, media.schema, example);
}

function* shown(document: Document, where: string, schema: Json, value: unknown): Generator<Shown> {
  if (typeof value !== "object" || value === null) return;
  const name = String(schema.$ref ?? "")
    .split("/")
    .at(-1);
  const {
    properties = {},
    items,
    anyOf = [],
  } = resolved(document, schema) as {
    properties?: Record<string, Json>;
    items?: Json;
    anyOf?: Json[];
  };
  if (Array.isArray(value)) {
    for (const each of value) yield* shown(document, where, items ?? {}, each);
    return;
  }
  for (const each of anyOf) yield* shown(document, where, each, value);
  const row = value as Json;
  if (name && "id" in row) yield { where, thing: `${SAME[name] ?? name} ${row.id}`, value: row };
  for (const [field, each] of Object.entries(properties)) yield* shown(document, where, each, row[field]);
}

const everything = API_NAMES.flatMap((api) => [...shownIn(documentOf(api))]);

it("The examples tell one story: each thing is the same in all of them", () => {
  const first = new Map<string, Shown>();
  const contradictions: string[] = [];
  for (const { where, thing, value } of everything) {
    const known = first.get(thing);
    if (!known) {
      first.set(thing, { where, thing, value });
      continue;
    }
    const all = where.startsWith("update") ? FIXED : [...FIXED, ...NAMING];
    const fixed = all.filter((field) => !thing.startsWith(`${CHANGES[field]} `));
    for (const field of fixed.filter((each) => each in value && each in known.value))
      if (JSON.stringify(value[field]) !== JSON.stringify(known.value[field]))
        contradictions.push(`${field} of ${thing}: ${known.where}, ${where}`);
  }
  expect(first.size).toBeGreaterThan(20);
  expect(contradictions).toEqual([]);
});

/** Fields that identify a thing among others of its kind. Each thing has one id in the story. */
const NAMES = ["slug", "egress_id", "email", "key", "client_id", "jwks_url", "started_at"];

/** Every named thing in a value, with its ids and the time of its creation. */
function* namedIn(value: unknown): Generator<{ thing: string; ids: Json }> {
  if (typeof value !== "object" || value === null) return;
  const row = value as Json;
  const name = NAMES.find((each) => typeof row[each] === "string");
  // A person, an organization user and an invite can have the same email.
  const kind = ["user_id", "expires_at"].filter((field) => field in row);
  const ids = ["id", "user_id", "created_at"].filter((field) => field in row);
  if (name && "id" in row)
    yield {
      thing: `${[name, ...kind]} ${row[name]}`,
      ids: Object.fromEntries(ids.map((field) => [field, row[field]])),
    };
  for (const each of Object.values(row)) yield* namedIn(each);
}

it.each(API_NAMES)("The guides of the %s API tell the same story", (api) => {
  const story = new Map<string, Json>();
  const examples = API_NAMES.flatMap((each) => operationsOf(documentOf(each)).flatMap(bodiesOf)).flatMap(
    ([, media]) => examplesOf(media),
  );
  for (const { thing, ids } of namedIn(examples)) story.set(thing, { ...story.get(thing), ...ids });
  const blocks = guidesOf(api, guideValues()).matchAll(/^```json\n([\s\S]*?)^```/gm);
  for (const [, json = ""] of blocks)
    for (const { thing, ids } of namedIn(JSON.parse(json)))
      expect.soft({ ...story.get(thing), ...ids }, thing).toEqual({ ...ids, ...story.get(thing) });
});

it("The examples show everything that another example names by its id", () => {
  const known: Record<string, Set<unknown>> = {
    // The System user is in no list.
    user_id: valuesOf("OrganizationUser", "user_id").add(SYSTEM_USER_ID),
    organization_user_id: valuesOf("OrganizationUser", "id"),
    organization_id: valuesOf("Organization", "id"),
    waiting_room_id: valuesOf("WaitingRoom", "id"),
    call_id: valuesOf("Call", "id"),
  };
  const unknown = everything.flatMap(({ where, thing, value }) =>
    Object.entries(known)
      .filter(([field, values]) => value[field] != null && !values.has(value[field]))
      .map(([field]) => `${field} ${value[field]} of ${thing}: ${where}`),
  );
  for (const [field, values] of Object.entries(known)) expect(values.size, field).toBeGreaterThan(0);
  expect(unknown).toEqual([]);

  function valuesOf(name: string, field: string) {
    return new Set(
      everything.filter(({ thing }) => thing.startsWith(`${name} `)).map(({ value }) => value[field]),
    );
  }
});

it("In the example of its creation, a thing has not changed yet", () => {
  const changed = everything.filter(
    ({ where, value }) =>
      /^create\w+ 201$/.test(where) && "updated_at" in value && value.updated_at !== value.created_at,
  );
  expect(everything.some(({ where }) => /^create\w+ 201$/.test(where))).toBe(true);
  expect(changed.map(({ where, thing }) => `${thing}: ${where}`)).toEqual([]);
});

/** The operations of all APIs, with the examples of their requests and of their answers by name. */
const exchanges = API_NAMES.flatMap((api) =>
  Object.values(documentOf(api).paths).flatMap((operations) =>
    Object.entries(operations).map(([method, operation]) => {
      const [sent, answered] = [/ request$/, / 2\d\d$/].map((part) => {
        const media = bodiesOf(operation).find(([where]) => part.test(where))?.[1];
        const named = Object.entries(media?.examples ?? {}).map(([name, { value }]) => [name, value]);
        return new Map((media?.example === undefined ? named : [["", media.example]]) as [string, Json][]);
      }) as [Map<string, Json>, Map<string, Json>];
      const { operationId, parameters = [] } = operation;
      const [answer] = answered.values();
      return { method, operationId, parameters, sent, answered, ...(answer && { answer }) };
    }),
  ),
);

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null;

function* rowsIn(value: unknown): Generator<Json> {
  if (!isObject(value)) return;
  if (!Array.isArray(value)) yield value;
  for (const each of Object.values(value)) yield* rowsIn(each);
}

/** A time in any notation, and a list in any order, are equal to themselves. */
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable).map(String).sort();
  return typeof value === "string" && /^\d{4}-\d\d-\d\dT/.test(value) ? Date.parse(value) : value;
}

const isEqual = (one: unknown, other: unknown) =>
  JSON.stringify(comparable(one)) === JSON.stringify(comparable(other));

/** The fields of a request's only object. */
const fieldsSent = (sent: Json = {}): Json =>
  Object.assign({}, ...Object.values(sent).filter((each) => isObject(each) && !Array.isArray(each)));

it("The answer to an example shows what was sent", () => {
  const different = exchanges.flatMap(({ operationId, sent, answered, answer: first }) =>
    [...sent].flatMap(([name, body], place) => {
      const answer = answered.get(name) ?? (place === 0 ? first : undefined);
      return Object.entries(fieldsSent(body))
        .filter(([field, value]) => answer && field in answer && rowsIn(value).next().done)
        .filter(([field, value]) => !isEqual(answer?.[field], value))
        .map(([field]) => `${operationId} ${name}: ${field}`);
    }),
  );
  expect(different).toEqual([]);
});

/** Fields that follow from others, and the number of people who wait at that moment. */
const DERIVED = ["slug", "updated_at", "waiting_room_slug", "assists", "waiting_count"];

it("The answer to the first example of an update shows no change that was not sent", () => {
  const read = exchanges
    .filter(({ method }) => method === "get")
    .flatMap(({ answer }) => [...rowsIn(answer)]);
  const unsent = exchanges.flatMap(({ operationId, sent, answer = {} }) => {
    const fields = Object.keys(answer);
    const before = read.find((row) => row.id === answer.id && fields.every((field) => field in row));
    if (!/^(update|correct)/.test(operationId) || !before) return [];
    const known = [...Object.keys(fieldsSent([...sent.values()][0])), ...DERIVED];
    return fields
      .filter((field) => !known.includes(field) && !isEqual(answer[field], before[field]))
      .map((field) => `${operationId}: ${field} is ${answer[field]}, not ${before[field]}`);
  });
  expect(unsent).toEqual([]);
});

it("The answer is about the thing that the path names", () => {
  const others = exchanges.flatMap(({ method, operationId, parameters, answer }) =>
    parameters
      .filter(({ name, in: place }) => place === "path" && answer && name in answer)
      // A new name changes the slug.
      .filter(({ name }) => !(method === "put" && name === "slug"))
      .filter(({ name, example }) => answer?.[name] !== example)
      .map(({ name }) => `${operationId}: ${name}`),
  );
  expect(others).toEqual([]);
});

it("No two items of a list have the same id, name for programs, or hint of a secret", () => {
  const unique = ["id", "client_id", "secret_hint", "slug", "email", "key", "egress_id", "url"];
  const repeated = exchanges.flatMap(({ operationId, answered }) =>
    [...answered.values()].flatMap(rowsOfLists).flatMap((rows) =>
      unique
        .filter((field) => {
          const values = rows.map((row) => row[field]).filter((value) => value != null);
          return new Set(values).size < values.length;
        })
        .map((field) => `${operationId}: ${field}`),
    ),
  );
  expect(repeated).toEqual([]);
});

const rowsOfLists = (answer: Json) => Object.values(answer).filter(Array.isArray) as Json[][];

/** Each time, with those that are not before it. */
const LATER: Record<string, string[]> = {
  created_at: ["updated_at", "mailed_at", "used_at", "expires_at", "last_used_at", "starts_at"],
  last_used_at: ["revoked_at", "expires_at"],
  starts_at: ["ends_at"],
  datetime_start: ["datetime_end"],
  waiting_since: ["joined_at"],
  started_at: ["joined_at", "ended_at"],
  joined_at: ["left_at"],
  ended_at: ["updated_at"],
};

it("In the examples, times are in the order in which things happen", () => {
  const rows = exchanges.flatMap(({ operationId, sent, answered }) =>
    [...sent.values(), ...answered.values()]
      .flatMap((each) => [...rowsIn(each)])
      .map((row) => ({ operationId, row })),
  );
  const reversed = rows.flatMap(({ operationId, row }) =>
    Object.entries(LATER)
      .flatMap(([first, later]) => later.map((then) => [first, then] as const))
      .filter(([first, then]) => [row[first], row[then]].every((time) => typeof time === "string"))
      .filter(([first, then]) => Date.parse(String(row[first])) > Date.parse(String(row[then])))
      .map(([first, then]) => `${operationId}: ${then} ${row[then]} is before ${first} ${row[first]}`),
  );
  expect(rows.length).toBeGreaterThan(100);
  expect(reversed).toEqual([]);
});
