import { expect, it } from "vitest";
import { SYSTEM_USER_ID } from "../../src/organization/members/organization_users.table.ts";
import { API_NAMES } from "../../src/reference/apis.ts";
import { guidesOf } from "../../src/reference/guides.ts";
import { guideValues } from "../../src/reference/info.ts";
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
const FIXED = [
  "organization_id",
  "organization_user_id",
  "user_id",
  "email",
  "key",
  "egress_id",
  "waiting_room_id",
  "created_at",
  "started_at",
  "client_id",
  "issuer",
  "type",
  "object_changes",
];

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
    const fixed = FIXED.filter((field) => !thing.startsWith(`${CHANGES[field]} `));
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

it("In the examples, nothing is changed before it is created", () => {
  const early = everything.filter(
    ({ value: { created_at, updated_at } }) =>
      typeof created_at === "string" && typeof updated_at === "string" && updated_at < created_at,
  );
  expect(early.map(({ where, thing }) => `${thing}: ${where}`)).toEqual([]);
});

it("In the example of its creation, a thing has not changed yet", () => {
  const changed = everything.filter(
    ({ where, value }) =>
      /^create\w+ 201$/.test(where) && "updated_at" in value && value.updated_at !== value.created_at,
  );
  expect(everything.some(({ where }) => /^create\w+ 201$/.test(where))).toBe(true);
  expect(changed.map(({ where, thing }) => `${thing}: ${where}`)).toEqual([]);
});
