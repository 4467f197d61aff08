import { OPERATIONS, type Operations } from "../../dist/client/external/operations.gen.js";
import type {
  EraseParticipationsData,
  EraseParticipationsResponse,
} from "../../dist/client/external/types.gen.js";
import { connectionOf, forActingUser } from "./connection.ts";
import { type ExportLine, exportedLines, type PersonToExport } from "./export.ts";
import { type EventOfType, type EventTypeOrFamily, type FollowOptions, followEvents } from "./follow.ts";
import type { RequestOptions } from "./request.ts";
import { type Connection, send } from "./send.ts";
import type { ClientSettings, PurposeOfUse } from "./settings.ts";

/** A function for every operation of the external API, named by its `operationId`. */
export interface Client extends Operations {
  /** Yields every event after `after`, in order and once, then waits for new ones. It never ends by itself. */
  readonly followEvents: <Type extends EventTypeOrFamily = EventTypeOrFamily>(
    options?: FollowOptions<Type>,
  ) => AsyncGenerator<EventOfType<Type>, never, undefined>;
  /**
   * Erases everything that names a person: repeats `eraseParticipations` until nothing remains. Returns the counts of the last
   * request, with the sum of all `erased_count`. If it throws, call it again with the same input.
   */
  readonly eraseParticipant: (
    person: PersonToErase,
    options?: RequestOptions,
  ) => Promise<EraseParticipationsResponse>;
  /**
   * Yields the lines of a person's export. Throws an `IncompleteExportError` unless the last line, of the type `end`, confirms all
   * others: until you have received it, use none of them.
   */
  readonly exportParticipant: (
    person: PersonToExport,
    options?: RequestOptions,
  ) => AsyncGenerator<ExportLine, void, undefined>;
  /**
   * Returns this client acting for one of your users: each request names the user and the purpose, for the access log.
   *
   * @param id the user's id in your own system, not a name or an email address. Printable ASCII characters only
   */
  readonly withActingUser: (id: string, purpose: PurposeOfUse) => Client;
}

/**
 * Creates a client with the credentials of one of your organization's API clients.
 *
 * @throws Error in a browser, where anyone who opens the page could read the secret
 * @throws TypeError if a setting is missing or cannot be sent in a header
 */
export const createClient = (settings: ClientSettings): Client => clientOf(connectionOf(settings));

function clientOf(connection: Connection): Client {
  const operations = Object.fromEntries(
    Object.entries(OPERATIONS).map(([name, route]) => [
      name,
      (input?: object, options?: object) =>
        send(connection, { ...route, operation: name as keyof Operations }, input, options),
    ]),
  ) as unknown as Operations;
  return {
    ...operations,
    followEvents: (options) => followEvents(operations.listEvents, options) as AsyncGenerator<never, never>,
    async eraseParticipant(person, options) {
      for (let erased_count = 0; ; ) {
        const portion = await operations.eraseParticipations(person, options);
        erased_count += portion.erased_count;
        if (portion.remaining_count === 0) return { ...portion, erased_count };
      }
    },
    async *exportParticipant(person, options) {
      for await (const { line } of exportedLines(connection, person, options)) yield line;
    },
    withActingUser: (id, purpose) => clientOf(forActingUser(connection, id, purpose)),
  };
}

/** The person to erase, and whether to delete the transcripts, SOAP notes and recordings of their calls too. */
export type PersonToErase = NonNullable<EraseParticipationsData["query"]>;
