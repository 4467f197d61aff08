import { OPERATIONS, type Operations } from "../../dist/client/external/operations.gen.js";
import { connectionOf, forActingUser } from "./connection.ts";
import { type EventOfType, type EventTypeOrFamily, type FollowOptions, followEvents } from "./follow.ts";
import { type Connection, send } from "./send.ts";
import type { ClientSettings, PurposeOfUse } from "./settings.ts";

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
