import * as z from "zod";
import { pageQuery } from "../http/pagination.ts";
import { email, instant, pathId, roomSlug } from "../http/wire.ts";
import { DEFAULT_PER_PAGE, MAX_ORGANIZATION_SLUG_LENGTH, MAX_PAGE } from "../limits.ts";
import { reportEgressBody } from "../resources/egresses/egresses.schemas.ts";
import { eventsQuery } from "../resources/events/events.schemas.ts";
import { createIssuerBody } from "../resources/issuers/issuers.schemas.ts";
import { ORGANIZATION_SLUG } from "../resources/organizations/organizations.responses.ts";
import { createOrganizationBody } from "../resources/organizations/organizations.schemas.ts";
import {
  createWaitingRoomSubBody,
  IN_UTC,
} from "../resources/waiting_room_subs/waiting_room_subs.schemas.ts";
import {
  createWaitingRoomBody,
  updateWaitingRoomBody,
} from "../resources/waiting_rooms/waiting_rooms.schemas.ts";
import { deliveriesQuery } from "../resources/webhook_deliveries/webhook_deliveries.schemas.ts";
import {
  createWebhookEndpointBody,
  updateWebhookEndpointBody,
} from "../resources/webhook_endpoints/webhook_endpoints.schemas.ts";
import { ROOM_SLUG } from "./shapes.ts";

type Json = Record<string, unknown>;

const { organization } = createOrganizationBody.shape;

const utcInstant = createWaitingRoomSubBody.shape.waiting_room_sub.shape.datetime_start;

/** Strings in a URL, but numbers for a reader. */
const positiveInteger = { type: "integer", minimum: 1, pattern: undefined, maxLength: undefined };

/** Part of a path: not empty, `.` or `..`. No lookahead, which not every language of patterns has. */
const SEGMENT = "(\\.\\.[^/\\x00]+|\\.?[^./\\x00][^/\\x00]*)";

const storageKey = reportEgressBody.shape.egress.shape.storage_key.unwrap().unwrap();

/** What transformations and refinements accept: zod cannot express it in JSON Schema. */
const meanings: [z.ZodType, Json][] = [
  [pathId, positiveInteger],
  [pageQuery.shape.page, { ...positiveInteger, maximum: MAX_PAGE, default: 1 }],
  [pageQuery.shape.per_page, { ...positiveInteger, default: DEFAULT_PER_PAGE }],
  [roomSlug, { pattern: ROOM_SLUG.source }],
  [instant, { type: "string", format: "date-time" }],
  [utcInstant, { type: "string", format: "date-time", pattern: IN_UTC.source }],
  [email, { format: "email" }],
  [
    organization.shape.slug.unwrap(),
    {
      minLength: 1,
      maxLength: MAX_ORGANIZATION_SLUG_LENGTH,
      pattern: ORGANIZATION_SLUG.source,
    },
  ],
  [createIssuerBody.shape.issuer.shape.jwks_url, { format: "uri" }],
  [eventsQuery.shape.after, { ...positiveInteger, minimum: 0, default: 0 }],
  [deliveriesQuery.shape.after, positiveInteger],
  [storageKey, { pattern: `^${SEGMENT}(/${SEGMENT})*$` }],
  [createWebhookEndpointBody.shape.webhook_endpoint.shape.url, { format: "uri" }],
  [updateWebhookEndpointBody.shape.webhook_endpoint.shape.url.unwrap(), { format: "uri" }],
];

for (const [schema, override] of meanings)
  z.globalRegistry.add(schema, { ...z.globalRegistry.get(schema), override });

// `slug` is refused whatever its value is, so the document does not show it.
for (const { shape } of [createWaitingRoomBody, updateWaitingRoomBody])
  z.globalRegistry.add(shape.waiting_room, {
    override: ({ jsonSchema }) => {
      delete jsonSchema.properties?.slug;
    },
  });

/** Simplifies what zod writes, in a whole document, for readers. */
export function simplify(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(simplify);
  if (typeof value !== "object" || value === null) return value;
  const json = Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, simplify(each)]),
  ) as Json;
  // Responses may get new fields in later versions. But one that has none tells a generator that it is empty.
  if (json.additionalProperties === false && Object.keys(json.properties ?? {}).length > 0)
    delete json.additionalProperties;
  // The name of a format says more than a long pattern.
  if (typeof json.format === "string" && typeof json.pattern === "string" && json.pattern.length > 40)
    delete json.pattern;
  // Zod's smallest integer says nothing of ours: see bounds.ts.
  if (json.minimum === Number.MIN_SAFE_INTEGER) delete json.minimum;
  if (json.type === "integer" && json.exclusiveMinimum === 0) {
    delete json.exclusiveMinimum;
    json.minimum = 1;
  }
  if ("in" in json && "schema" in json) return simplifyParameter(json);
  // Keys of a JSON object are always strings.
  if (json.type === "object") delete json.propertyNames;
  return withoutChoiceOfNull(json);
}

function simplifyParameter({ example, ...parameter }: Json): Json {
  // It stands with the parameter too.
  const { description, ...schema } = parameter.schema as Json;
  if (parameter.required === true) return { ...parameter, schema, example };
  // The page would send every example, so that a second request with the same key would be a replay.
  return { ...parameter, schema, examples: { example: { value: example, "x-disabled": true } } };
}

/** Writes a scalar or null as two types. An object or null stays a choice of two schemas. */
function withoutChoiceOfNull({ anyOf, ...json }: Json): Json {
  const [value, none, ...others] = (anyOf ?? []) as Json[];
  const isScalar = typeof value?.type === "string" && value.type !== "object";
  if (isScalar && none?.type === "null" && others.length === 0)
    return { ...value, ...json, type: [value.type, "null"] };
  return anyOf === undefined ? json : { ...json, anyOf };
}
