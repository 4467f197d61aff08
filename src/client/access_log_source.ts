/** Where an access log comes from: the service, which is not trusted. */
import { OPERATIONS } from "../../dist/client/external/operations.gen.js";
import type { ListAccessLogSealsResponse } from "../../dist/client/external/types.gen.js";
import type { AccessLogSeal, PublishedKey } from "./access_log_chain.ts";
import { type AccessLogSource, LONGEST_LINE } from "./access_log_types.ts";
import { API, connectionOf, forActingUser } from "./connection.ts";
import { VideoVisitError } from "./errors.ts";
import { chunksOf } from "./ndjson.ts";
import { FULL_PAGE, NDJSON_TYPE, type RequestOptions, type Route } from "./request.ts";
import { send } from "./send.ts";
import type { ClientSettings } from "./settings.ts";

/** In milliseconds: a day's file may be large, and the connection of an auditor slow. */
const TIMEOUT = 600_000;

const MAX_RETRIES = 8;

/** In bytes. A file has the entries of a day, compressed: some megabytes, 40 for a million entries. */
const LONGEST_FILE = 64 * 1024 * 1024;

/** In bytes. A page has a hundred seals, of some hundred bytes. */
const LONGEST_PAGE = 1024 * 1024;

/** Days of some hundred years. */
const LONGEST_CHAIN = 100_000;

/**
 * The access log of the organization that a client belongs to, over HTTP.
 *
 * @param actingUser for whom the check is made: what the service records of it
 */
export function accessLogOf(
  settings: ClientSettings,
  actingUser: string,
  signal?: AbortSignal,
): AccessLogSource {
  const connection = {
    ...forActingUser(
      connectionOf({
        ...settings,
        timeout: settings.timeout ?? TIMEOUT,
        maxRetries: settings.maxRetries ?? MAX_RETRIES,
      }),
      actingUser,
      "HOPERAT",
    ),
    bounds: { json: LONGEST_PAGE, file: LONGEST_FILE, line: LONGEST_LINE },
  };
  const ask = (route: Route, input: object, options: RequestOptions & { accept?: string } = {}) =>
    send(connection, route, input, { ...options, signal });

  return {
    async keys() {
      const address = connection.baseUrl.slice(0, -API.length);
      const found = await send({ ...connection, baseUrl: address, headers: {} }, KEYS, {}, { signal });
      const { keys } = found as { keys?: unknown };
      if (!Array.isArray(keys)) throw new TypeError("The service publishes no keys");
      return keys as PublishedKey[];
    },
    async seals() {
      const all: AccessLogSeal[] = [];
      for (let after = 0; ; ) {
        const page = (await ask(OPERATIONS.listAccessLogSeals, {
          after,
          per_page: FULL_PAGE,
        })) as ListAccessLogSealsResponse;
        if (!Array.isArray(page.access_log_seals)) throw new TypeError("The service lists no seals");
        all.push(...page.access_log_seals);
        if (all.length > LONGEST_CHAIN)
          throw new TypeError(`The service has more than ${LONGEST_CHAIN} seals`);
        if (page.access_log_seals.length < FULL_PAGE) return all;
        after = moved(after, page);
      }
    },
    async file(date) {
      try {
        // Of an emptied file the client has nothing.
        const file = ((await ask(OPERATIONS.getSealedAccessLog, { date })) ?? new Blob()) as Blob;
        return chunksOf(file.stream());
      } catch (error) {
        if (error instanceof VideoVisitError && error.status === 404) return null;
        throw error;
      }
    },
    async *list(first) {
      yield* (await ask(
        OPERATIONS.listAccessLogs,
        { after: first },
        { accept: NDJSON_TYPE },
      )) as AsyncIterable<string>;
    },
  };
}

/** The public keys. They need no credentials. */
const KEYS: Route = { route: "GET /.well-known/jwks.json" };

/** @throws TypeError where a list would be read for ever */
function moved(after: number, { access_log_seals, next_after }: ListAccessLogSealsResponse): number {
  if (
    !Number.isSafeInteger(next_after) ||
    next_after <= after ||
    next_after !== access_log_seals.at(-1)?.last_id
  )
    throw new TypeError(`The service wants the list read on after ${next_after}, and not after ${after}`);
  return next_after;
}
