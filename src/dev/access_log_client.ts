import { createClient, paginate, VideoVisitError } from "../../dist/client/external/index.js";
import type { Seal } from "../resources/access_log_seals/access_log_seals.schemas.ts";
import type { AccessLogSource, Key } from "./access_log_source.ts";

/** In milliseconds: a day's file may be large, and the connection of an auditor slow. */
const TIMEOUT = 600_000;

const MAX_RETRIES = 8;

/**
 * The access log of the organization that a client belongs to, over HTTP.
 *
 * @param actingUser for whom the check is made: what the service records of it
 */
export function accessLogOver(
  url: string,
  credentials: { clientId: string; clientSecret: string },
  actingUser: string,
): AccessLogSource {
  const settings = { ...credentials, baseUrl: url, timeout: TIMEOUT, maxRetries: MAX_RETRIES };
  const visits = createClient(settings).withActingUser(actingUser, "HOPERAT");

  return {
    async keys() {
      const response = await fetch(`${url}/.well-known/jwks.json`, { redirect: "manual" });
      if (!response.ok) throw new Error(`${response.url} answers ${response.status}`);
      return ((await response.json()) as { keys: Key[] }).keys;
    },
    async seals() {
      const all: Seal[] = [];
      for await (const seal of paginate(visits.listAccessLogSeals)) all.push(seal);
      return all;
    },
    async file(date, part) {
      try {
        // Of an emptied file the client has nothing.
        return ((await visits.getSealedAccessLog({ date, part: String(part) })) ?? new Blob()).stream();
      } catch (error) {
        if (error instanceof VideoVisitError && error.status === 404) return null;
        throw error;
      }
    },
    async *list(first) {
      for (let after: string | null = String(first); after !== null; ) {
        const answer: { headers?: Headers } = {};
        const onResponse = ({ headers }: { headers: Headers }) => void Object.assign(answer, { headers });
        const options = { accept: "application/x-ndjson", onResponse } as const;
        const lines: string = await visits.listAccessLogs({ after: Number(after) }, options);
        yield* lines.split("\n").slice(0, -1);
        after = answer.headers?.get("X-Next-After") ?? null;
      }
    },
  };
}
