import { notFound, unprocessable } from "../../http/errors.ts";
import { MAX_OLD_WEBHOOK_SECRETS, MAX_WEBHOOK_ENDPOINTS } from "../../limits.ts";
import { beyondOwnRights } from "../../organization/api_clients/api_clients.refusals.ts";

export const ENDPOINT_STAYS = { secret: "use POST /webhook_endpoints/{id}/rotate_secret" };

export const webhookEndpointNotFound = () => notFound("Webhook endpoint");

export const URL_FAULTS = {
  malformed: "must be an https URL such as https://hooks.example.com/visits",
  scheme: "must begin with https://",
  port: "must use port 443",
  ipAddress: "must have a host name, not an IP address",
  privateName:
    "must have a public host name: with a dot, and not under .local, .internal, .localhost, .lan, .home.arpa, .svc, .corp, .home, .mail, .intranet, .private, .test, .onion, .alt, .example or .invalid",
  credentials: "must not contain a user name or a password",
  ownHost: "must not point to this service",
} as const;

export type UrlFault = (typeof URL_FAULTS)[keyof typeof URL_FAULTS];

export const urlNotAllowed = (fault: UrlFault) =>
  unprocessable("url_not_allowed", `webhook_endpoint.url: ${fault}`);

export const tooManyEndpoints = () =>
  unprocessable(
    "too_many_endpoints",
    `The organization has ${MAX_WEBHOOK_ENDPOINTS} webhook endpoints, which is the most that it can have: delete one first`,
  );

export const endpointOutlivesClient = () =>
  beyondOwnRights(
    "Your API client expires, and a webhook endpoint would outlast it: use a client without expires_at to create or change one",
  );

export const rotatedTooOften = () =>
  unprocessable(
    "too_many_secrets",
    `The secret was rotated ${MAX_OLD_WEBHOOK_SECRETS} times within a day: wait until the oldest of these secrets has expired`,
  );

/** For a replay, whose response cannot contain the secret. */
export const ROTATE_LOST_SECRET =
  "The endpoint was created, but its secret is shown only once: if you do not have it, find the endpoint in the list and rotate its secret";

export const endpointNotActive = () =>
  unprocessable("endpoint_inactive", "The webhook endpoint is not active: activate it first");

export const webhooksQuiet = () =>
  unprocessable(
    "service_quiet",
    "The service was restored from a backup and sends no webhooks until its operator resumes it",
  );
