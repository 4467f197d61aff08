/** Reads an access log from the service. The service is not trusted, so every response is bounded. */
import { OPERATIONS } from "../../dist/client/external/operations.gen.js";
import type { AccessLogSeal, ListAccessLogSealsResponse } from "../../dist/client/external/types.gen.js";
import { type AccessLogSource, LONGEST_LINE, type PublishedKey } from "./access_log_types.ts";
import { API, connectionOf, forActingUser } from "./connection.ts";
import { VideoVisitError } from "./errors.ts";
import { chunksOf } from "./ndjson.ts";
import { FULL_PAGE, NDJSON_TYPE, type RequestOptions, type Route } from "./request.ts";
import { send } from "./send.ts";
import type { ClientSettings } from "./settings.ts";

/** In milliseconds: a day's file may be large, and an auditor's connection slow. */
const TIMEOUT = 600_000;

const MAX_RETRIES = 8;

/** In bytes. A million entries, the most in a file, take 40 MB compressed; a day's quota of pages of 100 visits takes 66 MB. */
const LONGEST_FILE = 128 * 1024 * 1024;

/** In bytes. A page has 100 seals of a few hundred bytes each. */
const LONGEST_PAGE = 1024 * 1024;

/** In seals: one a day for more than 270 years. */
const LONGEST_CHAIN = 100_000;

/**
 * The access log of the client's organization, read over HTTP.
 *
 * @param actingUser the person that the service records for these reads
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
        // For an empty file, `send` returns undefined.
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

const KEYS: Route = { route: "GET /.well-known/jwks.json" };

/** @throws TypeError if the service does not move the list forward, which would be read forever */
function moved(after: number, { access_log_seals, next_after }: ListAccessLogSealsResponse): number {
  if (
    !Number.isSafeInteger(next_after) ||
    next_after <= after ||
    next_after !== access_log_seals.at(-1)?.last_id
  )
    throw new TypeError(`The service continues the list after ${next_after}, which does not follow ${after}`);
  return next_after;
}
