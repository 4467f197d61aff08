import { isCausedBy } from "../../database/causes.ts";
import { ApiError, unprocessable } from "../../http/errors.ts";
import {
  CLIENT_SHARE,
  MAX_ADDRESS_MAILS,
  MAX_DAILY_ACCESS_LOGS,
  MAX_DAILY_WRITES,
  MAX_METRICS_DAYS,
  MAX_ORGANIZATION_MAILS,
  MAX_WAITING_ROOMS,
} from "../../limits.ts";
import { DAY, SECOND } from "../../units.ts";

/** The day is over at midnight in UTC. */
const tomorrow = (message: string) =>
  new ApiError(429, message, {
    headers: { "Retry-After": String(Math.ceil((DAY - (Date.now() % DAY)) / SECOND)) },
  });

export const tooManyWrites = () =>
  tomorrow(
    `The organization's clients have written ${MAX_DAILY_WRITES} times today, as often as they may in a day: try again after midnight UTC`,
  );

export const tooManyEntries = () =>
  tomorrow(
    `The organization's clients have caused ${MAX_DAILY_ACCESS_LOGS} entries of its access log today, as many as they may in a day: try again after midnight UTC`,
  );

/** The faults of an invite whose mail would be one too many, in a row of a bulk invite too. */
export const TOO_MANY_MAILS = `The organization has mailed ${MAX_ORGANIZATION_MAILS} invites today, as many as it may in a day: invite this person after midnight UTC`;
export const TOO_MANY_MAILS_TO_ADDRESS = `The organization has mailed this address ${MAX_ADDRESS_MAILS} times today, as often as it may in a day: try again after midnight UTC`;

export const tooManyMails = () => tomorrow(TOO_MANY_MAILS);

export const tooManyMailsToAddress = () => tomorrow(TOO_MANY_MAILS_TO_ADDRESS);

const SHARE = `at most ${CLIENT_SHARE * 100} percent of what its organization's clients may together`;

export const tooManyWritesOfClient = () =>
  tomorrow(
    `This API client has written ${MAX_DAILY_WRITES * CLIENT_SHARE} times today, as often as it may in a day (${SHARE}): try again after midnight UTC`,
  );

export const tooManyEntriesOfClient = () =>
  tomorrow(
    `This API client has caused ${MAX_DAILY_ACCESS_LOGS * CLIENT_SHARE} entries of the access log today, as many as it may in a day (${SHARE}): try again after midnight UTC`,
  );

export const usageRangeTooLong = () =>
  new ApiError(
    400,
    `from: the range up to the date in to must have at most ${MAX_METRICS_DAYS} days, both ends included`,
  );

export const tooManyRooms = () =>
  unprocessable(
    `The organization has made ${MAX_WAITING_ROOMS} waiting rooms, as many as it may, retired ones included: rename one instead`,
  );

/** By what the triggers say that refuse what goes beyond (triggers/usage.sql, mails.sql and list_totals.sql). */
const QUOTAS: [string, () => ApiError][] = [
  ["quota: writes", tooManyWrites],
  ["quota: access log entries", tooManyEntries],
  ["quota of a client: writes", tooManyWritesOfClient],
  ["quota of a client: access log entries", tooManyEntriesOfClient],
  ["quota: waiting rooms", tooManyRooms],
  ["quota: mails", tooManyMails],
  ["quota: address", tooManyMailsToAddress],
];

/** The refusal, where an error of the database says that a quota is used up; else the error. */
export function quotaOr(error: Error): Error {
  const quota = QUOTAS.find(([text]) => isCausedBy(error, ({ message }) => message.includes(text)));
  return quota?.[1]() ?? error;
}
