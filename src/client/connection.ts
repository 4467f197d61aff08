import { VERSION } from "../../dist/client/external/operations.gen.js";
import { headerValue } from "./headers.ts";
import type { Connection } from "./send.ts";
import {
  type ClientSettings,
  MAX_RETRIES,
  type PurposeOfUse,
  requireRetries,
  requireTimeout,
  TIMEOUT,
} from "./settings.ts";

/** What the requests of a client have in common. */
export function connectionOf(settings: ClientSettings): Connection {
  if ("window" in globalThis && "document" in globalThis)
    throw new Error("A client secret must not get into a browser: create the client on your server");
  for (const name of ["baseUrl", "clientId", "clientSecret"] as const)
    if (!settings[name]) throw new TypeError(`createClient: ${name} is missing`);
  return {
    baseUrl: apiAt(settings.baseUrl),
    headers: {
      "User-Agent": `organization-video-visit-client/${VERSION}`,
      "X-Client-ID": headerValue("clientId", settings.clientId),
      "X-Client-Secret": headerValue("clientSecret", settings.clientSecret),
    },
    // Called as a method of something else, the global one refuses.
    fetch: settings.fetch ?? ((...request) => fetch(...request)),
    maxRetries: requireRetries(settings.maxRetries ?? MAX_RETRIES),
    timeout: requireTimeout(settings.timeout ?? TIMEOUT),
  };
}

/** Where the API is, at the address of the service. */
export const API = "/api/external";

/** These never leave the machine. */
const LOOPBACK = /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/;

/** The address of the API, of which the path may be left out. */
function apiAt(baseUrl: string): string {
  const fail = (fault: string) => {
    // Never with the value, which may hold a password.
    throw new TypeError(`createClient: baseUrl ${fault}`);
  };
  if (!URL.canParse(baseUrl)) fail("must be an address such as https://visits.example.com");
  const { protocol, hostname, username, password, pathname, origin } = new URL(baseUrl);
  if (username || password) fail("must not have a user name or a password in it");
  if (protocol !== "https:" && !(protocol === "http:" && LOOPBACK.test(hostname)))
    fail("must begin with https://, or the secret could be read on the way (http:// is only for loopback)");
  const path = pathname.replace(/\/+$/, "");
  return origin + (path.endsWith(API) ? path : path + API);
}

export const forActingUser = (connection: Connection, id: string, purpose: PurposeOfUse): Connection => ({
  ...connection,
  headers: {
    ...connection.headers,
    "X-Acting-User": headerValue("id of withActingUser", id),
    "X-Purpose-Of-Use": headerValue("purpose of withActingUser", purpose),
  },
});
