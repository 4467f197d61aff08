import { OPERATIONS, type Operations } from "../../dist/client/external/operations.gen.js";
import { connectionOf, forActingUser } from "./connection.ts";
import { type EventOfType, type EventTypeOrFamily, type FollowOptions, followEvents } from "./follow.ts";
import { type Connection, send } from "./send.ts";

export interface ClientSettings {
  /** Where the service is: `https://visits.example.com`. On loopback, http will do. */
  baseUrl: string;
  clientId: string | undefined;
  clientSecret: string | undefined;
  /** How often a request that failed is sent again, at most. By default 4 times. */
  maxRetries?: number | undefined;
  /** How long an attempt may take, in milliseconds. By default 30,000. */
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
  readonly followEvents: <Type extends EventTypeOrFamily = EventTypeOrFamily>(
    options?: FollowOptions<Type>,
  ) => AsyncGenerator<EventOfType<Type>, never, undefined>;
  /**
   * The same client for one person of yours: its requests say for whom they are sent, and why.
   *
   * @param id by which your own system knows the person: not a name, nor an email address. Printable ASCII characters
   */
  readonly withActingUser: (id: string, purpose: PurposeOfUse) => Client;
}

/**
 * A client of the service, for one API client of an organization.
 *
 * @throws Error in a browser: anyone who sees the page could read the secret
 * @throws TypeError for a setting that is missing or cannot be sent
 */
export const createClient = (settings: ClientSettings): Client => clientOf(connectionOf(settings));

function clientOf(connection: Connection): Client {
  const operations = Object.fromEntries(
    Object.entries(OPERATIONS).map(([name, route]) => [
      name,
      (input?: object, options?: object) => send(connection, route, input, options),
    ]),
  ) as unknown as Operations;
  return {
    ...operations,
    followEvents: (options) => followEvents(operations.listEvents, options) as AsyncGenerator<never, never>,
    withActingUser: (id, purpose) => clientOf(forActingUser(connection, id, purpose)),
  };
}
