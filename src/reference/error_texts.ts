/**
 * What can be wrong with a field, as errors say it after the path of the field. `{number}`, `{list}` and `{name}` stand
 * for what differs.
 */
export const FAULTS: Record<string, string> = {
  "is required": "The field is missing. `null` does not count as missing.",
  "is given twice: give it once": "The query has the parameter more than once.",
  "must be a string": "It is another type of JSON.",
  "must be a number": "It is another type of JSON, or too large for a number.",
  "must be an integer": "It is another type of JSON, or has a fraction.",
  "must be true or false": "It is another type of JSON.",
  "must be a list": "It is another type of JSON.",
  "must be a list of {name}": "It is another type of JSON.",
  "must be an object": "It is another type of JSON.",
  "must be one of {list}": "It is none of these values.",
  "must be at least {number}": "It is too small.",
  "must be more than {number}": "It is too small.",
  "must be at most {number}": "It is too large.",
  "must be a positive integer": "It is not the digits of a number from 1 on.",
  "must be 0, or the `next_after` of a response": "It is not a position in the list.",
  "must be a non-negative integer": "It is not the digits of a number from 0 on.",
  "must be at most {number} characters long":
    "It is too long. Characters are counted, not bytes: an emoji is one or a few.",
  "must not be blank": "It is empty, or nothing but spaces.",
  "must be text without control characters":
    "It has a line break, a tab or another control character, or half of a surrogate pair.",
  "must be text without null characters": "It has the character U+0000, or half of a surrogate pair.",
  "must be printable ASCII characters":
    "It has other characters, which the value that it looks for cannot have.",
  "must be an email address": "An email field of HTML would not accept it.",
  "must be an ISO 8601 timestamp such as 2026-01-31T09:30:00Z":
    "The date, the time or the time zone is missing, or there is no such time. Leap seconds (`23:59:60`) are not accepted.",
  "must be within the years 0000 to 9999": "The time is before the year 0000, or after 29 December 9999.",
  "must not be more than {number} seconds in the future": "The time of what has happened is in the future.",
  "must be a date such as 2026-01-31": "There is no such date.",
  "must hold at most {number} {name}": "The list is too long.",
  "must hold at least one {name}": "The list is empty.",
  "must name at most {number} {name}": "The list is too long.",
  "must name at least one {name}": "The list is empty.",
  "{list} is above your permission level; you may assign {list}":
    "A role is higher than that of the API client: see `GET /roles`.",
};

/** The table of faults, for a guide. */
export const faultsTable = [
  "| Text | Meaning |",
  "| --- | --- |",
  ...Object.entries(FAULTS).map(([fault, meaning]) => `| \`\` ${fault} \`\` | ${meaning} |`),
].join("\n");
