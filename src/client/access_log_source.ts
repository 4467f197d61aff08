/** Where an access log comes from: the service, which is not trusted. */
import { OPERATIONS } from "../../dist/client/external/operations.gen.js";
import type { ListAccessLogSealsResponse } from "../../dist/client/external/types.gen.js";
import type { AccessLogSeal, PublishedKey } from "./access_log_chain.ts";
import { type AccessLogSource, LONGEST_LINE } from "./access_log_types.ts";

import { connectionOf, forActingUser } from "./connection.ts";
import { VideoVisitError } from "./errors.ts";
import { chunksOf } from "./ndjson.ts";
import { NDJSON_TYPE, type RequestOptions, type Route } from "./request.ts";
import { send } from "./send.ts";

import type { ClientSettings } from "./settings.ts";

/** In milliseconds: a day's file may be large, and the connection of an auditor slow. */
const TIMEOUT = 600_000;

const MAX_RETRIES = 8;

/** In bytes. A file has the entries of a day, or of a part of it, compressed: some megabytes. */
const LONGEST_RESPONSE = 64 * 1024 * 1024;

/** Days, and parts of days, of some hundred years. */
const LONGEST_CHAIN = 100_000;

const FULL_PAGE = 100;

/**
 * The access log of the organization that a client belongs to, over HTTP.
 *
 * @param actingUser for whom the check is made: what the service records of it
 */
export function accessLogOf(settings: ClientSettings, actingUser: string): AccessLogSource {
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
    bounds: { response: LONGEST_RESPONSE, line: LONGEST_LINE },
  };
  const ask = (route: Route, input: object, options: RequestOptions & { accept?: string } = {}) =>
    send(connection, route, input, options);

  return {
    async keys() {
      const { origin } = new URL(connection.baseUrl);
      const found = await send({ ...connection, baseUrl: origin, headers: {} }, KEYS);
      const { keys } = found as { keys?: unknown };
      if (!Array.isArray(keys)) throw new TypeError(`${origin} publishes no keys`);
      return keys as PublishedKey[];
    },
    async seals() {
      const all: AccessLogSeal[] = [];
      for (let after = 0; ; ) {
        const page = (await ask(OPERATIONS.listAccessLogSeals, {
          after,
          per_page: FULL_PAGE,
        })) as ListAccessLogSealsResponse;
        all.push(...page.access_log_seals);
        if (all.length > LONGEST_CHAIN)
          throw new TypeError(`The service has more than ${LONGEST_CHAIN} seals`);
        if (page.access_log_seals.length < FULL_PAGE) return all;
        after = moved(after, page.next_after);
      }
    },
    async file(date, part) {
      try {
        // Of an emptied file the client has nothing.
        const file = ((await ask(OPERATIONS.getSealedAccessLog, { date, part })) ?? new Blob()) as Blob;
        return chunksOf(file.stream());
      } catch (error) {
        if (error instanceof VideoVisitError && error.status === 404) return null;
        throw error;
      }
    },
    async *list(first) {
      for (let after: number | null = first; after !== null; ) {
        const answer: { headers?: Headers } = {};
        const onResponse = ({ headers }: { headers: Headers }) => void Object.assign(answer, { headers });
        yield* (await ask(
          OPERATIONS.listAccessLogs,
          { after },
          { accept: NDJSON_TYPE, onResponse },
        )) as AsyncIterable<string>;
        const next: string | null = answer.headers?.get("X-Next-After") ?? null;
        after = next === null ? null : moved(after, Number(next));
      }
    },
  };
}

/** The public keys. They need no credentials. */
const KEYS: Route = { route: "GET /.well-known/jwks.json" };

/** @throws TypeError where a list would be read for ever */
function moved(after: number, next: number): number {
  if (!(next > after))
    throw new TypeError(`The service wants the list read on after ${next}, and not after ${after}`);
  return next;
}
