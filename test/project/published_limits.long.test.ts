import { describe, expect, it } from "vitest";
import { API_NAMES } from "../../src/reference/apis.ts";
import { documentOf, examplesOf } from "./support/documents.ts";
import { allowedBy, valuesOf } from "./support/limit_values.ts";
import {
  type Example,
  exampleOf,
  type Place,
  placesOf,
  sendWith,
  valueIn,
} from "./support/limited_requests.ts";
import { documentedOperations, isOf, type Operation } from "./support/request_schemas.ts";
import { isRefusal, type Outcome, openService } from "./support/service_in_memory.ts";

type Exception = [reason: string, applies: (value: unknown, place: Place) => boolean];

const fillsBody = (value: unknown) => String(value).length > 200_000;

/** The body may be only as long as the token, so that the body is refused first. */
const TOO_LONG: Exception = [
  "A token fills the body",
  (value, { name }) => /^token_(exchange|check)\.token$/.test(name) && fillsBody(value),
];

/** Values that the service accepts although the schema does not, and why that is right. */
const ACCEPTED: Exception[] = [
  [
    "White space at the ends of a text is removed",
    (value, { schema }) =>
      typeof value === "string" && value !== value.trim() && allowedBy(schema)(value.trim()),
  ],
  [
    "ISO 8601 has more ways to write a time than RFC 3339, the format date-time",
    (value, { schema }) =>
      schema.format === "date-time" && /T09:30(Z|:00\+0100|:00\+01)$/.test(String(value)),
  ],
  [
    "A larger number means the same as the largest one",
    (value, place) =>
      place.in === "query" &&
      ["per_page", "after", "id", "call_id", "user_id", "waiting_room_id", "egress_id", "part"].includes(
        place.name,
      ) &&
      Number(value) > 2 ** 53 - 1,
  ],
  [
    "Documented with every body: null for an optional field is the same as leaving it out",
    (value, place) => place.in === "body" && value === null && !place.isRequired,
  ],
  [
    "Documented in the guides about lists: an empty parameter is the same as none",
    (value, place) => place.in === "query" && value === "",
  ],
  ["An invalid bookmark is ignored", (_, { name }) => name === "X-D1-Bookmark"],
  TOO_LONG,
];

/** The fields with times of reports. */
const PAST = /^(call|participant|egress)\.|^reported_at$/;

/** Values that the service refuses although the schema accepts them, and where the reference says so. */
const REFUSED: Exception[] = [
  [
    "Half of a surrogate pair is not a character, so a text of JSON should have none (RFC 8259, section 8.2)",
    (value) => !String(value).isWellFormed(),
  ],
  [
    "Documented in the table of faults: no leap seconds, and no time after 29 December 9999",
    (value, { schema }) => schema.format === "date-time" && /:60Z$|^9999-12-3/.test(String(value)),
  ],
  [
    "Documented in the guide about reports: no time is in the future",
    (value, place) =>
      place.schema.format === "date-time" && PAST.test(place.name) && Date.parse(String(value)) > Date.now(),
  ],
  [
    "Documented with the field: a storage key is not blank",
    (value, { name }) => name === "egress.storage_key" && /^[\s\p{Cc}\p{Cf}]*$/u.test(String(value)),
  ],
  [
    "Documented in the guide about reports: no path can have it",
    (value, place) => place.in === "path" && /^\.\.?$/.test(String(value)),
  ],
  TOO_LONG,
];

const applies = (exceptions: Exception[], value: unknown, place: Place) =>
  exceptions.some(([, holds]) => holds(value, place));

let service = await openService();

function trials(place: Place, example: Example) {
  const isAllowed = allowedBy(place.schema);
  return itsShare(place, valuesToTry(place, valueIn(example, place))).map((value) => ({
    value,
    allowed: value === undefined ? !place.isRequired : isAllowed(meaning(value, place)),
  }));
}

/** The number of operations that had a parameter so far. */
const occurrences = new Map<string, number>();

/** All values for the first operation with a parameter, and a different tenth of them for each later operation. */
function itsShare({ in: place, name, schema }: Place, values: unknown[]): unknown[] {
  if (place === "body") return values;
  const parameter = JSON.stringify([place, name, schema]);
  const before = occurrences.get(parameter) ?? 0;
  occurrences.set(parameter, before + 1);
  return values.filter((_, n) => before === 0 || n % 10 === before % 10);
}

/** Other values cannot be at the place. */
const CAN_BE_SENT: Record<Place["in"], (value: unknown) => boolean> = {
  body: () => true,
  path: (value) => typeof value !== "object" && value !== "",
  query: (value) => typeof value !== "object",
  header: (value) => typeof value !== "object" && /^[ -~]*$/.test(String(value)),
};

function valuesToTry(place: Place, example: unknown): unknown[] {
  const values = valuesOf(place.schema, example).filter(CAN_BE_SENT[place.in]);
  const canBeLeftOut = place.in !== "path" && place.path.length > 0 && place.path.at(-1) !== "0";
  return canBeLeftOut ? [undefined, ...values] : values;
}

/** The value that a parameter's text means. Digits may mean a number. */
function meaning(value: unknown, { in: place, schema }: Place): unknown {
  if (place === "body") return value;
  const isNumber = isOf(schema, "integer") && /^-?\d+$/.test(String(value));
  if (isOf(schema, "boolean") && /^(true|false)$/.test(String(value))) return String(value) === "true";
  return isNumber ? Number(value) : String(value);
}

const errorOf = ({ status, text }: Outcome): string => (status < 400 ? "" : JSON.parse(text).error);

/** Whether a refused request has changed nothing, and says what is wrong. */
const isSound = ({ status, text, changes }: Outcome) =>
  status < 400 || (status < 500 && changes === 0 && isRefusal(text));

/** Whether the request is refused because of the value at the place. */
function isRefused(outcome: Outcome, place: Place): boolean {
  // A dot resolves to another path, which may not have the method.
  if (place.in === "path") return outcome.status === 404 || outcome.status === 405;
  if (place.name === "body") return outcome.status === 422;
  const named = errorOf(outcome)
    .split("; ")
    .some((fault) => fault.startsWith(`${place.name}: `) || fault.startsWith(`${place.name}.`));
  return named && outcome.status === (place.in === "body" ? 422 : 400);
}

const documents = Object.fromEntries(API_NAMES.map((api) => [api, documentOf(api)]));

/** Whether the request succeeds, or is refused with an error that is documented for its operation. */
function isAccepted({ api, method, path }: Operation, outcome: Outcome): boolean {
  if (outcome.status < 400) return true;
  const { content = {} } =
    documents[api]?.paths[path]?.[method.toLowerCase()]?.responses[outcome.status] ?? {};
  return Object.values(content)
    .flatMap((media) => examplesOf(media))
    .some((example) => anyNumber((example as { error: string }).error) === anyNumber(errorOf(outcome)));
}

/** Numbers in an example stand for any number. */
const anyNumber = (text = "") => text.replace(/\d+/g, "0");

const shorten = (text = "nothing") => (text.length > 80 ? `${text.slice(0, 80)}… (${text.length})` : text);

describe("The published limits", () => {
  const operations = documentedOperations.filter(({ api }) => api !== "livekit");
  it.each(operations)("hold for $method /api/$api$path", async (operation) => {
    const differences: string[] = [];
    for (const place of placesOf(operation)) {
      let example = await exampleOf(service, operation);
      for (const { value, allowed } of trials(place, example)) {
        const outcome = await sendWith(service, example, place, value);
        const isAsSaid = allowed
          ? isAccepted(operation, outcome) || applies(REFUSED, value, place)
          : isRefused(outcome, place) || applies(ACCEPTED, value, place);
        const isRight = isAsSaid && isSound(outcome);
        const said = `${shorten(JSON.stringify(value))} is ${allowed ? "" : "not "}allowed`;
        const where = `${place.in} ${place.name}`;
        if (!isRight) differences.push(`${where}: ${said}: ${outcome.status} ${shorten(errorOf(outcome))}`);
        // The request may have used up the resource that it was about.
        if (outcome.changes > 0) example = await exampleOf(service, operation);
      }
    }
    // It may have deleted or changed rows that other examples need, because ids of 1 are allowed too.
    if (operation.method !== "GET") service = await openService();
    expect(differences).toEqual([]);
  });
});

// LiveKit repeats a refused event endlessly. The service ignores or cuts off a value beyond its limit.
it("LiveKit gets 200 for every event, even if a field is beyond its limits", async () => {
  const statuses = new Set<number>();
  for (const operation of documentedOperations.filter(({ api }) => api === "livekit"))
    for (const place of placesOf(operation)) {
      const example = await exampleOf(service, operation);
      for (const { value, allowed } of trials(place, example))
        if (!allowed && !fillsBody(value))
          statuses.add((await sendWith(service, example, place, value)).status);
    }
  expect([...statuses]).toEqual([200]);
});
