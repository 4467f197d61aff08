import { setTimeout as wait } from "node:timers/promises";
import { ACTING_USER, PURPOSE_OF_USE } from "../http/acting_user.ts";
import type { Seal } from "../resources/access_log_seals/access_log_seals.schemas.ts";
import { linesOf } from "./access_log_file_check.ts";
import type { AccessLogSource } from "./access_log_source.ts";

/** A request that failed for a moment is sent again so often. A client that is beyond its limit always waits. */
const ATTEMPTS = 5;

/** In seconds. */
const RETRY_AFTER = 5;

interface Credentials {
  client_id: string;
  client_secret: string;
  /** For whom the check is made: what the service records of it. */
  acting_user: string;
}

/** The access log of the organization that a client belongs to, over HTTP. */
export function accessLogOver(url: string, credentials: Credentials): AccessLogSource {
  const headers = {
    "X-Client-ID": credentials.client_id,
    "X-Client-Secret": credentials.client_secret,
    [ACTING_USER]: credentials.acting_user,
    [PURPOSE_OF_USE]: "HOPERAT",
  };
  const get = (path: string, more: Record<string, string> = {}) =>
    request(`${url}/api/external${path}`, { ...headers, ...more });

  return {
    async keys() {
      const { keys } = await json(await request(`${url}/.well-known/jwks.json`, {}));
      return keys;
    },
    async seals() {
      const all: Seal[] = [];
      for (let after = 0; ; ) {
        const { access_log_seals, next_after } = await json(
          await get(`/access_log_seals?after=${after}&per_page=100`),
        );
        all.push(...access_log_seals);
        if (access_log_seals.length < 100) return all;
        after = next_after;
      }
    },
    async file(date) {
      const response = await get(`/access_logs/${date}`);
      return response.status === 404 ? null : bodyOf(await ok(response));
    },
    async *list(first) {
      for (let after: string | null = String(first); after !== null; ) {
        const response: Response = await ok(
          await get(`/access_logs?after=${after}`, { Accept: "application/x-ndjson" }),
        );
        yield* linesOf(bodyOf(response));
        after = response.headers.get("X-Next-After");
      }
    },
  };
}

const bodyOf = ({ body }: Response) => (body ?? []) as unknown as AsyncIterable<Uint8Array>;

async function request(url: string, headers: Record<string, string>): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(url, { headers, redirect: "manual" }).catch((error) => {
      const { code, message } = error.cause ?? error;
      if (attempt >= ATTEMPTS)
        throw new Error(`${new URL(url).origin} cannot be reached: ${code ?? message}.`);
    });
    if (response && response.status !== 429 && (response.status < 500 || attempt >= ATTEMPTS))
      return response;
    await response?.body?.cancel();
    await wait(1000 * Number(response?.headers.get("Retry-After") ?? RETRY_AFTER));
  }
}

async function ok(response: Response): Promise<Response> {
  if (response.ok) return response;
  const path = new URL(response.url).pathname;
  const answer = (await response.json().catch(() => ({}))) as { error?: string };
  throw new Error(`${path} answers ${response.status}: ${answer.error ?? "not as this service does"}`);
}

// biome-ignore lint/suspicious/noExplicitAny: it is checked against what was signed
const json = async (response: Response): Promise<any> => (await ok(response)).json();
