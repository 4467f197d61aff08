import { type Client, createClient, VideoVisitError } from "../../dist/client/external/index.js";
import { indent } from "./demo_output.ts";

interface Credentials {
  client_id: string;
  client_secret: string;
}

/** The client package, which prints what it is asked and what it returns. */
export const printingClient = (server: string, { client_id, client_secret }: Credentials): Client =>
  printing(createClient({ baseUrl: server, clientId: client_id, clientSecret: client_secret }));

function printing(client: Client): Client {
  const { followEvents, withActingUser, ...operations } = client;
  const printed = Object.entries(operations).map(([name, send]) => [name, withPrint(name, send as Send)]);
  return {
    ...client,
    ...Object.fromEntries(printed),
    withActingUser: (id, purpose) => printing(withActingUser(id, purpose)),
  };
}

type Send = (input?: object, options?: object) => Promise<object | undefined>;

const withPrint =
  (name: string, send: Send): Send =>
  async (...given) => {
    process.stdout.write(`\n  visits.${name}\n${given.map((each) => indent(each ?? {})).join("")}`);
    const answer = await send(...given).catch((error) => {
      if (error instanceof VideoVisitError)
        process.stdout.write(`  → ${error.status}\n${indent({ error: error.text })}`);
      throw error;
    });
    process.stdout.write(`  → ${answer ? `\n${indent(answer)}` : "done\n"}`);
    return answer;
  };

/** Waits for a request that the service is to refuse. */
export async function refused(request: Promise<unknown>) {
  await request.catch((error) => {
    if (!(error instanceof VideoVisitError && error.status !== undefined && error.status < 500)) throw error;
  });
}
