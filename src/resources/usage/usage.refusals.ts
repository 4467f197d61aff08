import { isCausedBy } from "../../database/causes.ts";
import { ApiError, unprocessable } from "../../http/errors.ts";
import {
  MAX_DAILY_ACCESS_LOGS,
  MAX_DAILY_WRITES,
  MAX_METRICS_DAYS,
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
    `The organization's API clients have written ${MAX_DAILY_WRITES} times today, which is the most in a day: try again tomorrow (UTC)`,
  );

export const tooManyEntries = () =>
  tomorrow(
    `The access log of the organization got ${MAX_DAILY_ACCESS_LOGS} entries today, which is the most in a day, and nothing is shown without one: try again tomorrow (UTC)`,
  );

export const usageRangeTooLong = () =>
  new ApiError(400, `from: the range must have at most ${MAX_METRICS_DAYS} days, both ends included`);

export const tooManyRooms = () =>
  unprocessable(
    `The organization has made ${MAX_WAITING_ROOMS} waiting rooms, which is the most that it can make: use those that it has`,
  );

/** By what the triggers say that refuse what goes beyond (triggers/usage.sql). */
const QUOTAS: Record<string, () => ApiError> = {
  "quota: writes": tooManyWrites,
  "quota: access log entries": tooManyEntries,
  "quota: waiting rooms": tooManyRooms,
};

/** The refusal, where an error of the database says that a quota is used up; else the error. */
export function quotaOr(error: Error): Error {
  let refusal: ApiError | undefined;
  isCausedBy(error, ({ message }) => {
    refusal = QUOTAS[/quota: [a-z ]+[a-z]/.exec(message)?.[0] ?? ""]?.();
    return refusal !== undefined;
  });
  return refusal ?? error;
}
