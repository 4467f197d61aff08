import { isCausedBy } from "../../database/causes.ts";
import { ApiError, invalidQuery, unprocessable } from "../../http/errors.ts";
import * as limits from "../../limits.ts";
import { DAY, grouped, SECOND } from "../../units.ts";

/** A quota's day ends at midnight UTC. */
const tomorrow = (code: string, message: string) =>
  new ApiError(429, code, message, {
    headers: { "Retry-After": String(Math.ceil((DAY - (Date.now() % DAY)) / SECOND)) },
  });

const usedUp = (code: string, used: string, limit = "the daily limit") =>
  tomorrow(code, `${used}, which is ${limit}: try again after midnight UTC`);

export const tooManyWrites = () =>
  usedUp(
    "organization_write_limit",
    `The organization's clients have written ${grouped(limits.MAX_DAILY_WRITES)} times today`,
  );

export const tooManyEntries = () =>
  usedUp(
    "organization_entry_limit",
    `The organization's clients have caused ${grouped(limits.MAX_DAILY_ACCESS_LOGS)} access log entries today`,
  );

/** Also the errors of a row in a bulk invite. */
export const TOO_MANY_MAILS = `The organization has mailed ${grouped(limits.MAX_ORGANIZATION_MAILS)} invites today, which is the daily limit: invite this person after midnight UTC`;
export const TOO_MANY_MAILS_TO_ADDRESS = `The organization has mailed this address ${limits.MAX_ADDRESS_MAILS} times today, which is the daily limit: try again after midnight UTC`;

export const tooManyMails = () => tomorrow("organization_mail_limit", TOO_MANY_MAILS);

export const tooManyMailsToAddress = () => tomorrow("address_mail_limit", TOO_MANY_MAILS_TO_ADDRESS);

const OF_CLIENT = `its daily limit (${limits.CLIENT_FRACTION * 100} percent of its organization's limit)`;

export const tooManyWritesOfClient = () =>
  usedUp(
    "client_write_limit",
    `This API client has written ${grouped(limits.MAX_DAILY_WRITES * limits.CLIENT_FRACTION)} times today`,
    OF_CLIENT,
  );

export const tooManyEntriesOfClient = () =>
  usedUp(
    "client_entry_limit",
    `This API client has caused ${grouped(limits.MAX_DAILY_ACCESS_LOGS * limits.CLIENT_FRACTION)} access log entries today`,
    OF_CLIENT,
  );

export const tooManySignIns = () =>
  usedUp(
    "organization_sign_in_limit",
    `The organization's users have signed in ${grouped(limits.MAX_DAILY_SIGN_INS)} times today`,
  );

export const tooManyReserved = () =>
  usedUp(
    "organization_reserve_limit",
    `The organization's clients have caused ${grouped(limits.MAX_DAILY_RESERVED)} access log entries today with legal holds, removals of members or roles, deletions and reads of the access log`,
  );

export const usageRangeTooLong = () =>
  invalidQuery(
    `from: the range up to the last date must have at most ${grouped(limits.MAX_METRICS_DAYS)} days, both dates included`,
  );

export const tooManyRooms = () =>
  unprocessable(
    "too_many_rooms",
    `The organization has created ${grouped(limits.MAX_WAITING_ROOMS)} waiting rooms, retired ones included, which is its limit: rename one instead`,
  );

/** The refusals, by the error texts of the triggers. */
const QUOTAS: [string, () => ApiError][] = [
  ["quota: writes", tooManyWrites],
  ["quota: access log entries", tooManyEntries],
  ["quota of a client: writes", tooManyWritesOfClient],
  ["quota of a client: access log entries", tooManyEntriesOfClient],
  ["reserve: sign-ins", tooManySignIns],
  ["reserve: other requests", tooManyReserved],
  ["quota: waiting rooms", tooManyRooms],
  ["quota: mails", tooManyMails],
  ["quota: address", tooManyMailsToAddress],
];

export function quotaOr(error: Error): Error {
  const quota = QUOTAS.find(([text]) => isCausedBy(error, ({ message }) => message.includes(text)));
  return quota?.[1]() ?? error;
}
