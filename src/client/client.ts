import { OPERATIONS, type Operations } from "../../dist/client/external/operations.gen.js";
import { type FollowOptions, followEvents, type VisitEvent } from "./follow.ts";
import { headerValue } from "./headers.ts";
import { type Connection, send } from "./send.ts";

export interface ClientSettings {
  /** Where the service is: `https://visits.example.com`. */
  baseUrl: string;
  clientId: string | undefined;
  clientSecret: string | undefined;
  /** How often a request that failed is sent again, at most. */
  maxRetries?: number | undefined;
  /** How long an attempt may take, in milliseconds. */
  timeout?: number | undefined;
  /** Instead of the global one. */
  fetch?: typeof fetch | undefined;
}

/** Why somebody reads health data, as HL7 names it (PurposeOfUse). */
export type PurposeOfUse =
  | "TREAT"
  | "HOPERAT"
  | "HPAYMT"
  | "ETREAT"
  | "PATRQT"
  | "PUBHLTH"
  | "HRESCH"
  | "BTG";

/** Every operation of the external API, by its `operationId`. */
export interface Client extends Operations {
  /** Every event after one, in order and once, and then those that come. */
  readonly followEvents: (options?: FollowOptions) => AsyncGenerator<VisitEvent, never, undefined>;
  /**
   * The same client for one person of yours: its requests say for whom they are sent, and why.
   *
   * @param id by which your own system knows the person: not a name, nor an email address. Printable ASCII characters
   */
  readonly withActingUser: (id: string, purpose: PurposeOfUse) => Client;
}

const MAX_RETRIES = 4;

/** In milliseconds. The service answers earlier, whatever it waits for. */
const TIMEOUT = 30_000;

/**
 * @throws Error in a browser: anyone who sees the page could read the secret
 * @throws TypeError for a setting that is missing or cannot be sent
 */
export function createClient(settings: ClientSettings): Client {
  const { baseUrl, clientId, clientSecret } = settings;
  if ("window" in globalThis && "document" in globalThis)
    throw new Error("A client secret must not get into a browser: create the client on your server");
  if (!baseUrl || !clientId || !clientSecret)
    throw new TypeError("createClient needs a baseUrl, a clientId and a clientSecret");
  return clientOf({
    baseUrl: apiAt(baseUrl),
    headers: {
      "X-Client-ID": headerValue("clientId", clientId),
      "X-Client-Secret": headerValue("clientSecret", clientSecret),
    },
    // Called as a method of something else, the global one refuses.
    fetch: settings.fetch ?? ((...request) => fetch(...request)),
    maxRetries: settings.maxRetries ?? MAX_RETRIES,
    timeout: settings.timeout ?? TIMEOUT,
  });
}

const API = "/api/external";

/** The address of the API, of which the path may be left out. */
function apiAt(baseUrl: string): string {
  const url = new URL(baseUrl);
  const path = url.pathname.replace(/\/+$/, "");
  return url.origin + (path.endsWith(API) ? path : path + API);
}

function clientOf(connection: Connection): Client {
  const operations = Object.fromEntries(
    Object.entries(OPERATIONS).map(([name, route]) => [
      name,
      (input?: object, options?: object) => send(connection, route, input, options),
    ]),
  ) as unknown as Operations;
  return {
    ...operations,
    followEvents: (options) => followEvents(operations.listEvents, options),
    withActingUser: (id, purpose) =>
      clientOf({
        ...connection,
        headers: {
          ...connection.headers,
          "X-Acting-User": headerValue("id of withActingUser", id),
          "X-Purpose-Of-Use": headerValue("purpose of withActingUser", purpose),
        },
      }),
  };
}
