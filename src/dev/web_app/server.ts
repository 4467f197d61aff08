/**
 * The web app of `npm run dev`, at APP_URL: it makes links lead somewhere, so that a developer can click through a visit. It is also an
 * example of what a web app does. Nothing of it is in a deployment.
 */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { VideoVisitError } from "../../../dist/client/external/index.js";
import { isLoopback } from "../../http/loopback.ts";
import { invitePage, meetPage, messagePage } from "./pages.ts";
import { ACTS, openStories, type Person, type Service } from "./stories.ts";

const HEADERS = {
  "Content-Type": "text/html; charset=utf-8",
  "Cache-Control": "no-store",
  "Content-Security-Policy":
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  // The address of a page has the token of a link. Without any referrer, a browser would hide the origin of a form too.
  "Referrer-Policy": "same-origin",
};

/** @throws Error if something else listens at the address, such as the developer's own web app */
export async function startWebApp(appUrl: string, service: Service) {
  const { hostname, port } = new URL(appUrl);
  const stories = openStories(service);
  /** The people who have opened a page, by the secret in their cookie. */
  const sessions = new Map<string, Person>();

  const server = createServer((request, response) => {
    // Another site's page must not act here, and a foreign name for this machine must not reach it.
    const { host = "", origin } = request.headers;
    const isOwn = URL.canParse(`http://${host}`) && isLoopback(new URL(`http://${host}`).hostname);
    if (!isOwn || (origin ?? `http://${host}`) !== `http://${host}`)
      return respond(response, 403, messagePage("Refused", "The request came from elsewhere."));
    handle(request, response).catch((error: unknown) => {
      const said = error instanceof VideoVisitError ? error.text : (error as Error).message;
      respond(response, 400, messagePage("This did not work", String(said)));
    });
  });

  async function handle(request: IncomingMessage, response: ServerResponse) {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
    const form = new URLSearchParams(request.method === "POST" ? await text(request) : "");
    const [, slug] = /^\/meet\/([\w-]+)$/.exec(pathname) ?? [];
    if (slug) return meet(request, response, slug, searchParams.get("visit"), form);
    if (pathname === "/login") return login(response, searchParams);
    if (pathname === "/invites/accept") {
      if (request.method !== "POST") return respond(response, 200, invitePage());
      const { display_name } = await stories.acceptInvite(searchParams.get("token") ?? "");
      return respond(response, 200, messagePage("You have joined", `${display_name} can sign in now.`));
    }
    respond(response, 404, messagePage("No such page", "The pages are /meet/…, /login and /invites/accept."));
  }

  async function login(response: ServerResponse, query: URLSearchParams) {
    const { user } = await stories.redeemCode(query.get("code") ?? "");
    const { id, display_name } = user;
    const session = remember({ key: `user-${id}`, display_name, role: "provider", user_id: id });
    // Only to a room of this web app.
    const [to] = /^\/meet\/[\w-]+$/.exec(query.get("redirect") ?? "") ?? [];
    if (!to) throw new Error("The parameter redirect must be /meet/ and the slug of a room");
    response.writeHead(303, { ...HEADERS, ...session, Location: to }).end();
  }

  async function meet(
    request: IncomingMessage,
    response: ServerResponse,
    slug: string,
    link: string | null,
    form: URLSearchParams,
  ) {
    const cookie = /\bsession=([\w-]+)/.exec(request.headers.cookie ?? "")?.[1] ?? "";
    const signedIn = sessions.get(cookie);
    const guest = signedIn ?? {
      key: `guest-${randomUUID()}`,
      display_name: "Guest",
      role: "recipient" as const,
      user_id: null,
    };
    guest.display_name = form.get("name") || guest.display_name;
    const session = signedIn ? {} : remember(guest);
    const visitor = await stories.visitorAt(slug, link, guest);
    visitor.holder ??= Number(form.get("holder")) || null;
    const act = ACTS.find((each) => each === form.get("act"));
    if (act) {
      await stories.act(act, visitor, form.has("consent"));
      return response.writeHead(303, { ...HEADERS, ...session, Location: request.url ?? "/" }).end();
    }
    const shown = {
      state: stories.stateOf(visitor),
      isSignedIn: guest.user_id !== null && guest.user_id === visitor.person.user_id,
      requests: stories.requestsOf(visitor),
    };
    respond(response, 200, meetPage(visitor, shown), session);
  }

  function remember(person: Person) {
    const secret = randomUUID();
    sessions.set(secret, person);
    return { "Set-Cookie": `session=${secret}; Path=/; HttpOnly; SameSite=Lax` };
  }

  server.listen(Number(port || 80), hostname.replace(/^\[|\]$/g, ""));
  await once(server, "listening");
  return {
    url: `http://${hostname}:${(server.address() as AddressInfo).port}`,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function respond(response: ServerResponse, status: number, html: string, more: object = {}) {
  response.writeHead(status, { ...HEADERS, ...more }).end(html);
}
