import { isLoopback } from "../../http/loopback.ts";
import { URL_FAULTS, type UrlFault } from "./webhook_endpoints.refusals.ts";

/** Where the service stands. */
interface Surroundings {
  /** A URL of the service itself, where it is known. */
  ownUrl?: string | undefined;
  /** The other hosts by which the service is reached, each in a URL. */
  ownHosts?: string[];
  /** Whether http and any port are allowed on a loopback host: on a developer's machine. */
  allowsLoopback: boolean;
}

/** Labels as in DNS, of which the last is no number. The name has at least two. */
const PUBLIC_NAME =
  /^(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Names that are never public: RFC 6761, 6762, 7686 and 8375, and what ICANN keeps out of the root. */
const RESERVED_NAME =
  /(?:^|\.)(?:local|internal|localhost|lan|home\.arpa|svc|corp|home|intranet|private|test|onion|example|invalid)$/;

/** As URL writes them: it turns 127.1, 0x7f.1 and full-width digits into four numbers. */
const IP_ADDRESS = /^(?:\d+\.\d+\.\d+\.\d+|\[.*\])$/;

/**
 * Why a webhook may not go to this URL, or undefined if it may. The service must not be a way into a private network,
 * so a name must be public. To which address it leads is not known here.
 *
 * Everything is looked at as URL reads it, because that is where a request would go.
 */
export function urlFault(
  url: string,
  { ownUrl, ownHosts = [], allowsLoopback }: Surroundings,
): UrlFault | undefined {
  if (!URL.canParse(url)) return URL_FAULTS.malformed;
  const target = new URL(url);
  const host = hostOf(target);
  if (target.username || target.password) return URL_FAULTS.credentials;
  const ownUrls = ownUrl === undefined ? ownHosts : [ownUrl, ...ownHosts];
  if (ownUrls.some((own) => isSameEndpoint(target, new URL(own)))) return URL_FAULTS.ownHost;
  if (allowsLoopback && isLoopback(host) && /^https?:$/.test(target.protocol)) return undefined;
  if (target.protocol !== "https:") return URL_FAULTS.scheme;
  if (target.port !== "") return URL_FAULTS.port;
  if (IP_ADDRESS.test(host)) return URL_FAULTS.ipAddress;
  if (!PUBLIC_NAME.test(host) || RESERVED_NAME.test(host)) return URL_FAULTS.privateName;
  return undefined;
}

/** `example.com.` is `example.com`. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/\.$/, "");

/**
 * A deployed service answers at every port of its name. On a developer's machine there are other servers too, and each
 * loopback name leads to all of them.
 */
function isSameEndpoint(target: URL, own: URL): boolean {
  const [host, ownHost] = [hostOf(target), hostOf(own)];
  return isLoopback(ownHost) ? isLoopback(host) && portOf(target) === portOf(own) : host === ownHost;
}

const portOf = ({ port, protocol }: URL): string => port || (protocol === "https:" ? "443" : "80");
