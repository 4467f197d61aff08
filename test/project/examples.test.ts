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

/** Everything with an id in a value. */
function* shown(document: Document, where: string, schema: Json, value: unknown): Generator<Shown> {
  if (!isObject(value)) return;
  const {
    properties = {},
    items = {},
    anyOf = [],
  } = resolved(document, schema) as { properties?: Record<string, Json>; items?: Json; anyOf?: Json[] };
  if (Array.isArray(value)) {
    for (const each of value) yield* shown(document, where, items, each);
    return;
  }
  for (const each of anyOf) yield* shown(document, where, each, value);
  const name = String(schema.$ref ?? "")
    .split("/")
    .at(-1);
  if (name && "id" in value) yield { where, thing: `${SAME[name] ?? name} ${value.id}`, value };
  for (const [field, each] of Object.entries(properties)) yield* shown(document, where, each, value[field]);
}

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null;

const documents = API_NAMES.map(documentOf);

const everything = documents.flatMap((document) =>
  operationsOf(document)
    .flatMap(bodiesOf)
    .flatMap(([where, media]) =>
      examplesOf(media).flatMap((example) => [...shown(document, where, media.schema, example)]),
    ),
);

it("The examples tell one story: each thing is the same in all of them", () => {
  const things = Map.groupBy(everything, ({ thing }) => thing);
  const contradictions = [...things].flatMap(([thing, [first, ...others]]) =>
    others.flatMap(({ where, value }) =>
      (where.startsWith("update") ? FIXED : [...FIXED, ...NAMING])
        .filter((field) => !thing.startsWith(`${CHANGES[field]} `))
        .filter((field) => first && field in value && field in first.value)
        .filter((field) => JSON.stringify(value[field]) !== JSON.stringify(first?.value[field]))
        .map((field) => `${field} of ${thing}: ${first?.where}, ${where}`),
    ),
  );
  expect(things.size).toBeGreaterThan(20);
  expect(contradictions).toEqual([]);
});

/** Fields that identify a thing among others of its kind. Each thing has one id in the story. */
const NAMES = ["slug", "egress_id", "email", "key", "client_id", "jwks_url", "started_at"];

/** Every named thing in a value, with its ids and the time of its creation. */
const namedIn = (value: unknown) =>
  [...rowsIn(value)].flatMap((row) => {
    const name = NAMES.find((each) => typeof row[each] === "string");
    if (!name || !("id" in row)) return [];
    // A person, an organization user and an invite can have the same email.
    const kind = ["user_id", "expires_at"].filter((field) => field in row);
    const ids = Object.entries(row).filter(([field]) => ["id", "user_id", "created_at"].includes(field));
    return [{ thing: `${[name, ...kind]} ${row[name]}`, ids: Object.fromEntries(ids) }];
  });

it.each(API_NAMES)("The guides of the %s API tell the same story", (api) => {
  const story = new Map<string, Json>();
  const examples = documents
    .flatMap(operationsOf)
    .flatMap(bodiesOf)
    .flatMap(([, media]) => examplesOf(media));
  for (const { thing, ids } of namedIn(examples)) story.set(thing, { ...story.get(thing), ...ids });
  const blocks = guidesOf(api, guideValues()).matchAll(/^```json\n([\s\S]*?)^```/gm);
  for (const [, json = ""] of blocks)
    for (const { thing, ids } of namedIn(JSON.parse(json)))
      expect.soft({ ...story.get(thing), ...ids }, thing).toEqual({ ...ids, ...story.get(thing) });
});

it("The examples show everything that another example names by its id", () => {
  const valuesOf = (name: string, field: string) =>
    new Set(everything.filter(({ thing }) => thing.startsWith(`${name} `)).map(({ value }) => value[field]));
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
});

it("In the example of its creation, a thing has not changed yet", () => {
  const created = everything.filter(
    ({ where, value }) => /^create\w+ 201$/.test(where) && "updated_at" in value,
  );
  expect(created).not.toEqual([]);
  for (const { where, value } of created) expect(value.updated_at, where).toBe(value.created_at);
});

/** The operations of all APIs, with the examples of their requests and of their answers by name. */
const exchanges = documents.flatMap(({ paths }) =>
  Object.values(paths).flatMap((operations) =>
    Object.entries(operations).map(([method, operation]) => {
      const examplesAt = (place: RegExp) => {
        const media = bodiesOf(operation).find(([where]) => place.test(where))?.[1];
        const named = {
          ...media?.examples,
          ...(media?.example !== undefined && { "": { value: media.example } }),
        };
        return new Map(Object.entries(named).map(([name, { value }]) => [name, value as Json]));
      };
      const { operationId, parameters = [] } = operation;
      const answered = examplesAt(/ 2\d\d$/);
      const [answer] = answered.values();
      return { method, operationId, parameters, sent: examplesAt(/ request$/), answered, answer };
    }),
  ),
);

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

const listsIn = (answer: Json) => Object.values(answer).filter(Array.isArray) as Json[][];

it("No two items of a list have the same id, name for programs, or hint of a secret", () => {
  const unique = ["id", "client_id", "secret_hint", "slug", "email", "key", "egress_id", "url"];
  const repeated = exchanges.flatMap(({ operationId, answered }) =>
    [...answered.values()].flatMap(listsIn).flatMap((rows) =>
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
