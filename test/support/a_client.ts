import { createClient } from "../../dist/client/external/index.js";

export interface Sent {
  url: string;
  method: string;
  headers: Record<string, string>;
  body?: string;
}

type Answer = Response | Error | (() => Response);

/** A client of a server that gives these responses or breaks the connection, and the requests that the client sent. */
export function aClient(answers: Answer[] = [], settings: object = {}) {
  const sent: Sent[] = [];
  const client = createClient({
    baseUrl: "https://visits.test",
    clientId: "id",
    clientSecret: "secret",
    ...settings,
    fetch: async (url, init) => {
      sent.push({ url: String(url), ...(init as unknown as Omit<Sent, "url">) });
      const answer = answers[sent.length - 1] ?? Response.json({});
      if (answer instanceof Error) throw answer;
      return typeof answer === "function" ? answer() : answer;
    },
  });
  return { client, sent };
}

export const refusal = (status: number, error: string, headers: Record<string, string> = {}): Response =>
  Response.json({ error }, { status, headers });

/** A page of a list as NDJSON, in chunks. After them, it ends, breaks off or never ends. */
export function ndjson(
  chunks: string[],
  { next, after = "end" }: { next?: number; after?: "end" | "break" | "nothing" } = {},
) {
  const page = { isCancelled: false };
  const left = [...chunks];
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const chunk = left.shift();
      if (chunk !== undefined) return controller.enqueue(new TextEncoder().encode(chunk));
      if (after === "break") controller.error(new TypeError("terminated"));
      if (after === "end") controller.close();
    },
    cancel() {
      page.isCancelled = true;
    },
  });
  const headers = { "Content-Type": "application/x-ndjson", ...(next && { "X-Next-After": String(next) }) };
  return Object.assign(page, { response: new Response(body, { headers }) });
}

/** A response of another server. */
export const html = (status = 200): Response =>
  new Response("<html>Sign in</html>", { status, headers: { "Content-Type": "text/html" } });
