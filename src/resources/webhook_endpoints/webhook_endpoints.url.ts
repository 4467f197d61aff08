import { isLoopback } from "../../http/loopback.ts";

/** Where the service stands. */
export interface Surroundings {
  /** A URL of the service itself, where it is known. */
  ownUrl?: string | undefined;
  /** Whether http and any port are allowed on a loopback host: on a developer's machine. */
  allowsLoopback: boolean;
}

/** Labels as in DNS, of which the last is no number. The name has at least two. */
const PUBLIC_NAME =
  /^(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

const RESERVED_NAME = /\.(?:local|internal|localhost)$/;

/** As URL writes them: it turns 127.1, 0x7f.1 and full-width digits into four numbers. */
const IP_ADDRESS = /^(?:\d+\.\d+\.\d+\.\d+|\[.*\])$/;

/**
 * Why a webhook may not go to this URL, or undefined if it may. The service must not be a way into a private network,
 * so a name must be public. To which address it leads is not known here.
 *
 * Everything is looked at as URL reads it, because that is where a request would go.
 */
export function forbiddenUrl(url: string, { ownUrl, allowsLoopback }: Surroundings): string | undefined {
  if (!URL.canParse(url)) return "must be an https URL such as https://hooks.example.com/visits";
  const target = new URL(url);
  const host = hostOf(target);
  if (target.username || target.password) return "must not contain a user name or a password";
  if (ownUrl !== undefined && isSame(target, new URL(ownUrl))) return "must not lead to this service";
  if (allowsLoopback && isLoopback(host) && /^https?:$/.test(target.protocol)) return undefined;
  if (target.protocol !== "https:") return "must begin with https://";
  if (target.port !== "") return "must use port 443";
  if (IP_ADDRESS.test(host)) return "must have a host name, not an IP address";
  if (!PUBLIC_NAME.test(host) || RESERVED_NAME.test(host))
    return "must have a public host name: with a dot, and not under .local, .internal or .localhost";
  return undefined;
}

/** `example.com.` is `example.com`. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/\.$/, "");

/**
 * A deployed service answers at every port of its name. On a developer's machine there are other servers too, and each
 * loopback name leads to all of them.
 */
function isSame(target: URL, own: URL): boolean {
  const [host, ownHost] = [hostOf(target), hostOf(own)];
  return isLoopback(ownHost) ? isLoopback(host) && portOf(target) === portOf(own) : host === ownHost;
}

const portOf = ({ port, protocol }: URL): string => port || (protocol === "https:" ? "443" : "80");
