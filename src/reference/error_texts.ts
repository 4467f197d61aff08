/**
 * The reasons in the errors of a field, which follow the field's path. `{number}`, `{list}` and `{name}` are placeholders.
 */
export const FAULTS: Record<string, string> = {
  "is required": "The field is missing. `null` does not count as missing.",
  "is given twice: give it once": "The query has the parameter more than once.",
  "must not be empty":
    "The filter names a person, and has no value. To select everybody, leave the parameter out.",
  "is not a parameter of this operation; use {list}":
    "The operation does not have the parameter. Its parameters follow, the most similar name first.",
  "is not a parameter of this operation, which has none": "The operation has no parameters.",
  "must be a string": "It is of another JSON type.",
  "must be a number": "It is of another JSON type, or too large for a number.",
  "must be an integer": "It is of another JSON type, or has a fraction.",
  "must be true or false": "It is of another JSON type.",
  "must be a list": "It is of another JSON type.",
  "must be a list of {name}": "It is of another JSON type.",
  "must be an object": "It is of another JSON type.",
  "must be one of {list}": "It is none of these values.",
  "must be a type of event: the most similar ones are {list}":
    "There is no such type or family of types: see [Events](/external/reference/events).",
  "must be at least {number}": "It is too small.",
  "must be more than {number}": "It is too small.",
  "must be at most {number}": "It is too large.",
  "must be a positive integer": "It is not an integer of 1 or more, written in digits.",
  "must be 0, or the `next_after` of a response": "It is not a position in the list.",
  "must be the `next_after` of a response": "It is not a position in the list.",
  "must be a non-negative integer": "It is not an integer of 0 or more, written in digits.",
  "must be at most {number} characters long":
    "It is too long. The limit is in characters, not bytes: an emoji is one character or a few.",
  "must not be blank":
    "It is empty, or has only invisible characters: spaces, control and format characters, or fillers.",
  "must be text without control characters":
    "It has a line break, a tab or another control character, or half of a surrogate pair.",
  "must not have characters that change the direction of text (U+202A to U+202E, U+2066 to U+2069)":
    "A name has an embedding, override or isolate, with which it could look like another name.",
  "must be text without null characters": "It has the character U+0000, or half of a surrogate pair.",
  "must be printable ASCII characters":
    "It has other characters, which the values to search for cannot have.",
  "must be an email address": "It is not an address that an HTML email field accepts.",
  "must be an ISO 8601 timestamp such as 2026-01-31T09:30:00Z":
    "The date, the time or the time zone is missing, or the time does not exist. Leap seconds (`23:59:60`) are not accepted.",
  "must be within the years 0000 to 9999": "The time is before the year 0000, or after 29 December 9999.",
  "must not be more than {number} seconds in the future": "The time of a past event is in the future.",
  "must be a date such as 2026-01-31": "It is not a date, or the date does not exist.",
  "must hold at most {number} {name}": "The list is too long.",
  "must hold at least one {name}": "The list is empty.",
  "must name at most {number} {name}": "The list is too long.",
  "must name at least one {name}": "The list is empty.",
  "{list} is above your permission level; you may assign {list}":
    "A role is above the API client's permission level: see `GET /roles`.",
  "must be within the scopes of your API client: {list}":
    "A client with scopes cannot create a client with more scopes: see `GET /api_client`.",
};

export const faultsTable = [
  "| Text | Meaning |",
  "| --- | --- |",
  ...Object.entries(FAULTS).map(([fault, meaning]) => `| \`\` ${fault} \`\` | ${meaning} |`),
].join("\n");
