import { isLoopback } from "../../http/loopback.ts";
import { URL_FAULTS, type UrlFault } from "./webhook_endpoints.refusals.ts";

interface Surroundings {
  ownUrl?: string | undefined;
  ownHosts?: string[];
  /** With http and any port, for a developer's machine. */
  allowsLoopback: boolean;
}

/** At least two DNS labels, the last of which does not begin with a digit. */
const PUBLIC_NAME =
  /^(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Never public: names of RFC 6761, 6762, 7686, 8375 and 9476, and names that ICANN keeps out of the root. */
const RESERVED_NAME =
  /(?:^|\.)(?:local|internal|localhost|lan|home\.arpa|svc|corp|home|mail|intranet|private|test|onion|alt|example|invalid)$/;

/** As `URL` writes hosts: it turns 127.1, 0x7f.1 and full-width digits into four numbers. */
const IP_ADDRESS = /^(?:\d+\.\d+\.\d+\.\d+|\[.*\])$/;

/**
 * The service must not be a way into a private network, so the name must be public. The address that it resolves to is not
 * known here. Checks the URL as `URL` parses it, because that is where the request would go.
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

const hostOf = ({ hostname }: URL): string => hostname.replace(/\.$/, "");

/** A deployed service answers on every port of its host. On a developer's machine, ports are compared. */
function isSameEndpoint(target: URL, own: URL): boolean {
  const [host, ownHost] = [hostOf(target), hostOf(own)];
  return isLoopback(ownHost) ? isLoopback(host) && portOf(target) === portOf(own) : host === ownHost;
}

const portOf = ({ port, protocol }: URL): string => port || (protocol === "https:" ? "443" : "80");
