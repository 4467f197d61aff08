import * as z from "zod";
import { pageQuery } from "../http/pagination.ts";
import { email, instant, key, name, pathId } from "../http/wire.ts";
import { DEFAULT_PER_PAGE, MAX_ISSUER_LENGTH, MAX_KEY_LENGTH, MAX_NAME_LENGTH } from "../limits.ts";
import { createIssuerBody } from "../resources/issuers/issuers.schemas.ts";
import { createWaitingRoomSubBody } from "../resources/waiting_room_subs/waiting_room_subs.schemas.ts";
import {
  createWaitingRoomBody,
  updateWaitingRoomBody,
} from "../resources/waiting_rooms/waiting_rooms.schemas.ts";

type Json = Record<string, unknown>;

const utcInstant = createWaitingRoomSubBody.shape.waiting_room_sub.shape.datetime_start;

/** What a transformation or a refinement makes of a text, which zod cannot tell. */
const meanings: [z.ZodType, Json][] = [
  // Text in a URL, but numbers to a reader.
  [pathId, { type: "integer", minimum: 1, pattern: undefined }],
  [pageQuery.shape.page, { type: "integer", minimum: 1, default: 1, pattern: undefined }],
  [pageQuery.shape.per_page, { type: "integer", minimum: 1, default: DEFAULT_PER_PAGE, pattern: undefined }],
  [instant, { type: "string", format: "date-time" }],
  [utcInstant, { type: "string", format: "date-time", pattern: "(Z|\\+00:00)$" }],
  [email, { format: "email" }],
  [name, { minLength: 1, maxLength: MAX_NAME_LENGTH }],
  [key, { maxLength: MAX_KEY_LENGTH }],
  [createIssuerBody.shape.issuer.shape.issuer, { minLength: 1, maxLength: MAX_ISSUER_LENGTH }],
  [createIssuerBody.shape.issuer.shape.audience, { minLength: 1, maxLength: MAX_ISSUER_LENGTH }],
  [createIssuerBody.shape.issuer.shape.jwks_url, { format: "uri", maxLength: MAX_ISSUER_LENGTH }],
];

for (const [schema, override] of meanings) z.globalRegistry.add(schema, { override });

// A key that is refused whatever its value is none to show.
for (const { shape } of [createWaitingRoomBody, updateWaitingRoomBody])
  z.globalRegistry.add(shape.waiting_room, {
    override: ({ jsonSchema }) => {
      delete jsonSchema.properties?.slug;
    },
  });

/** What zod says of schemas, in all of a document, said as a reader would. */
export function simplify(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(simplify);
  if (typeof value !== "object" || value === null) return value;
  const json = Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, simplify(each)]),
  ) as Json;
  // Answers may gain fields: the API's changes only add.
  if (json.additionalProperties === false) delete json.additionalProperties;
  // What a format is, its name says better than a long pattern.
  if (typeof json.format === "string" && typeof json.pattern === "string" && json.pattern.length > 40)
    delete json.pattern;
  // That an integer is one which JavaScript holds exactly needs no saying.
  if (json.maximum === Number.MAX_SAFE_INTEGER) delete json.maximum;
  if (json.minimum === Number.MIN_SAFE_INTEGER) delete json.minimum;
  if (json.type === "integer" && json.exclusiveMinimum === 0) {
    delete json.exclusiveMinimum;
    json.minimum = 1;
  }
  // Keys of an object are text in any case.
  if (json.type === "object") delete json.propertyNames;
  return withoutChoiceOfNull(json);
}

/** Text or null, say, in one word each; an object or null stays a choice of two. */
function withoutChoiceOfNull({ anyOf, ...json }: Json): Json {
  const [value, none, ...others] = (anyOf ?? []) as Json[];
  const isScalar = typeof value?.type === "string" && value.type !== "object";
  if (isScalar && none?.type === "null" && others.length === 0)
    return { ...value, ...json, type: [value.type, "null"] };
  return anyOf === undefined ? json : { ...json, anyOf };
}
