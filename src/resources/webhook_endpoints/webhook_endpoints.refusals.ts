import { notFound, unprocessable } from "../../http/errors.ts";
import { MAX_OLD_WEBHOOK_SECRETS, MAX_WEBHOOK_ENDPOINTS } from "../../limits.ts";

export const webhookEndpointNotFound = () => notFound("Webhook endpoint");

/** Why a webhook may not go to a URL. */
export const URL_FAULTS = {
  malformed: "must be an https URL such as https://hooks.example.com/visits",
  scheme: "must begin with https://",
  port: "must use port 443",
  ipAddress: "must have a host name, not an IP address",
  privateName:
    "must have a public host name: with a dot, and not under .local, .internal, .localhost, .lan, .home.arpa, .svc, .corp, .home, .intranet, .private, .test, .onion, .example or .invalid",
  credentials: "must not contain a user name or a password",
  ownHost: "must not lead to this service",
} as const;

export type UrlFault = (typeof URL_FAULTS)[keyof typeof URL_FAULTS];

export const urlNotAllowed = (fault: UrlFault) => unprocessable(`webhook_endpoint.url: ${fault}`);

export const tooManyEndpoints = () =>
  unprocessable(
    `The organization has ${MAX_WEBHOOK_ENDPOINTS} webhook endpoints, which is the most that it can have: delete one first`,
  );

export const rotatedTooOften = () =>
  unprocessable(
    `The secret was rotated ${MAX_OLD_WEBHOOK_SECRETS} times within a day: wait until the first of these old secrets has expired`,
  );

/** To the caller of a replay, for whom the secret is lost. */
export const ROTATE_LOST_SECRET =
  "The endpoint exists, but its secret is shown only once: if you do not have it, find the endpoint in the list and rotate its secret";
