import { VERSION } from "../../dist/client/external/operations.gen.js";
import type { Connection } from "./send.ts";
import * as options from "./settings.ts";

/**
 * @throws Error in a browser
 * @throws TypeError for a setting that is missing or not valid
 */
export function connectionOf(settings: options.ClientSettings): Connection {
  if ("window" in globalThis && "document" in globalThis)
    throw new Error("A client secret must not get into a browser: create the client on your server");
  for (const name of ["baseUrl", "clientId", "clientSecret"] as const)
    if (!settings[name]) throw new TypeError(`createClient: ${name} is missing`);
  return {
    baseUrl: apiAt(settings.baseUrl),
    headers: {
      "User-Agent": `organization-video-visit-client/${VERSION}`,
      "X-Client-ID": options.headerValue("clientId", settings.clientId),
      "X-Client-Secret": options.headerValue("clientSecret", settings.clientSecret),
    },
    // The global fetch throws if it is called as a method of another object.
    fetch: settings.fetch ?? ((...request) => fetch(...request)),
    maxRetries: options.requireRetries(settings.maxRetries ?? options.MAX_RETRIES),
    timeout: options.requireTimeout(settings.timeout ?? options.TIMEOUT),
  };
}

export const API = "/api/external";

const LOOPBACK = /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/;

/** The address of the API. The base URL may include the API's path or leave it out. */
function apiAt(baseUrl: string): string {
  const fail = (fault: string) => {
    // Do not include the value: it may contain a password.
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

export const forActingUser = (
  connection: Connection,
  id: string,
  purpose: options.PurposeOfUse,
): Connection => ({
  ...connection,
  headers: {
    ...connection.headers,
    "X-Acting-User": options.headerValue("id of withActingUser", id),
    "X-Purpose-Of-Use": options.headerValue("purpose of withActingUser", purpose),
  },
});
