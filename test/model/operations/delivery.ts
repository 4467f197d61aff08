import { BOOLEAN, kind, object, oneOf, required, resource, text } from "../kinds.ts";
import {
  ANYTHING,
  dateOf,
  type Endpoint,
  idOf,
  type Model,
  notFound,
  type Organization,
  ownedBy,
  type Request,
  timestamp,
  unprocessable,
  withId,
} from "../model.ts";
import { isInOrder, type Operations, PAGE, pickOwned, RANGE } from "../operation.ts";
import { organizationOf } from "./organizations.ts";

/** The receiver of these webhooks accepts everything. */
export const RECEIVER = "https://hooks.example.com/visits";

const EVENTS = ["call.ended", "visit.created"];

const shown = (endpoint: Endpoint) => ({
  id: idOf(endpoint),
  url: endpoint.url,
  event_types: endpoint.event_types ?? ANYTHING,
  is_active: endpoint.is_active,
  disabled_reason: endpoint.disabled_reason,
  created_at: timestamp(endpoint.created_at),
  updated_at: timestamp(endpoint.updated_at),
});

const endpointOf = (model: Model, { caller, path }: Request): Endpoint =>
  withId(ownedBy(caller.organization, model.endpoints), path.id);

/** An endpoint outlives its request, so a client that expires cannot make or change one. */
function requireLasting({ caller }: Request): void {
  if (caller.client.expires_at !== null) throw unprocessable("beyond_own_rights");
}

const ENDPOINT = {
  url: text(2000, [RECEIVER], ["", 5]),
  event_types: kind(
    ({ chance }) => chance.pick([[EVENTS[0]], [...EVENTS, ...EVENTS]]),
    [[], ["call.over"], "call.ended"],
    undefined,
    (names: string[]) => EVENTS.filter((name) => names.includes(name)),
  ),
  is_active: BOOLEAN,
};

const anEndpoint: Operations[string]["path"] = (choice) => ({
  id: pickOwned(choice, choice.model.endpoints)?.id,
});

const admin = { area: "events", roles: ["organization_admin"] } satisfies Partial<Operations[string]>;

const TYPE = oneOf([...EVENTS, "call.*"], ["calls"]);
const AFTER_ID = kind(({ chance }) => chance.pick(["0", "3", "1000000000"]), ["x", "-1"], undefined, Number);
const AFTER_EVENT = kind(({ chance }) => chance.pick(["1", "1000000000"]), ["0", "x"], undefined, Number);
const LISTED = { per_page: PAGE.per_page as never };

function usage(model: Model, organization: Organization, { query }: Request) {
  const { from, to = dateOf(model.now) } = query as { from?: string; to?: string };
  const waiting_rooms_count = ownedBy(organization, model.rooms).filter(({ owner }) => !owner).length;
  const isEmpty = from !== undefined && from > to;
  return { usage: isEmpty ? [] : ANYTHING, waiting_rooms_count, waiting_rooms_limit: 20_000 };
}

export const DELIVERY: Operations = {
  "external GET /events": {
    ...admin,
    query: { type: TYPE, after: AFTER_ID, ...LISTED },
    play: () => ({ events: ANYTHING, next_after: ANYTHING }),
  },
  "platform GET /events": {
    query: { type: TYPE, after: oneOf(["0"], ["x", "-1"]), ...LISTED },
    play: () => ({ events: ANYTHING, next_after: ANYTHING }),
  },
  "external GET /webhook_endpoints": {
    ...admin,
    play: (model, { caller }) => ({
      webhook_endpoints: ownedBy(caller.organization, model.endpoints).map(shown),
    }),
  },
  "external POST /webhook_endpoints": {
    ...admin,
    body: resource("webhook_endpoint", { ...ENDPOINT, url: required(ENDPOINT.url) }),
    play(model, request) {
      const { organization, member: creator } = request.caller;
      requireLasting(request);
      if (ownedBy(organization, model.endpoints).length >= 10) throw unprocessable("too_many_endpoints");
      const endpoint: Endpoint = {
        ...{
          id: 0,
          organization,
          creator,
          event_types: null,
          is_active: true,
          disabled_reason: null,
          rotatedAt: [],
        },
        ...request.body.webhook_endpoint,
        ...{ created_at: model.now, updated_at: model.now },
      };
      model.endpoints.push(endpoint);
      return { ...shown(endpoint), secret: ANYTHING };
    },
  },
  "external GET /webhook_endpoints/{id}": {
    ...admin,
    path: anEndpoint,
    play: (model, request) => shown(endpointOf(model, request)),
  },
  "external PUT /webhook_endpoints/{id}": {
    ...admin,
    path: anEndpoint,
    body: resource("webhook_endpoint", ENDPOINT),
    play(model, request) {
      requireLasting(request);
      const endpoint = endpointOf(model, request);
      const { webhook_endpoint } = request.body;
      const isTurnedOn = webhook_endpoint.is_active === true && !endpoint.is_active;
      if (webhook_endpoint.is_active) endpoint.disabled_reason = null;
      if (isTurnedOn) endpoint.creator = request.caller.member;
      Object.assign(endpoint, webhook_endpoint, { updated_at: model.now });
      return shown(endpoint);
    },
  },
  "external DELETE /webhook_endpoints/{id}": {
    ...admin,
    path: anEndpoint,
    play(model, request) {
      const endpoint = endpointOf(model, request);
      model.endpoints.splice(model.endpoints.indexOf(endpoint), 1);
    },
  },
  "external POST /webhook_endpoints/{id}/rotate_secret": {
    status: 200,
    ...admin,
    path: anEndpoint,
    play(model, request) {
      requireLasting(request);
      const endpoint = endpointOf(model, request);
      const recent = endpoint.rotatedAt.filter((time) => time + 86_400_000 > model.now);
      if (recent.length >= 5) throw unprocessable("too_many_secrets");
      endpoint.rotatedAt = [...recent, model.now];
      endpoint.updated_at = model.now;
      return { ...shown(endpoint), secret: ANYTHING };
    },
  },
  "external GET /webhook_endpoints/{id}/deliveries": {
    ...admin,
    path: anEndpoint,
    query: { after: AFTER_EVENT, ...LISTED },
    play(model, request) {
      endpointOf(model, request);
      return { deliveries: ANYTHING, next_after: ANYTHING };
    },
  },
  "external POST /webhook_endpoints/{id}/redeliver": {
    status: 200,
    ...admin,
    path: anEndpoint,
    body: object({ after: required(kind(({ chance }) => chance.pick([0, 1_000_000_000]), [-1, "0"])) }),
    play(model, request) {
      if (!endpointOf(model, request).is_active) throw unprocessable("endpoint_inactive");
      const isNone = request.body.after > 0;
      return { redelivered_count: isNone ? 0 : ANYTHING, next_after: ANYTHING };
    },
  },
  "external POST /webhook_endpoints/{id}/ping": {
    status: 200,
    ...admin,
    path: anEndpoint,
    body: object({ type: oneOf(EVENTS, ["call.over"]) }),
    play(model, request) {
      endpointOf(model, request);
      return { response_status: 204, error: null };
    },
  },
  "external GET /access_logs": {
    area: "audit",
    roles: ["organization_admin"],
    isRecorded: true,
    query: {
      ...RANGE,
      after: AFTER_ID,
      ...LISTED,
      event: oneOf(["read", "delete"], ["look"]),
      resource: oneOf(["call", "visit"], ["patient"]),
    },
    isSound: isInOrder,
    play: () => ({ access_logs: ANYTHING, next_after: ANYTHING }),
  },
  "external GET /access_log_seals": {
    area: "audit",
    roles: ["organization_admin"],
    query: { after: AFTER_ID, ...LISTED },
    play: () => ({ access_log_seals: [], next_after: ANYTHING }),
  },
  "external GET /access_logs/{date}": {
    area: "audit",
    roles: ["organization_admin"],
    isRecorded: true,
    path: ({ model }) => ({ date: dateOf(model.now) }),
    play() {
      throw notFound();
    },
  },
  "external GET /usage": {
    area: "organization",
    query: RANGE,
    isSound: isInOrder,
    play: (model, request) => usage(model, request.caller.organization, request),
  },
  "platform GET /organizations/{organization_id}/usage": {
    query: RANGE,
    isSound: isInOrder,
    play: (model, request) => usage(model, organizationOf(model, request), request),
  },
  "platform GET /organizations": {
    query: PAGE,
    play: () => ({ organizations: ANYTHING, pagination: ANYTHING }),
  },
  "platform GET /invites": {
    query: { status: oneOf(["active"], ["expired"]), after: oneOf(["0"], ["x"]), ...LISTED },
    play: () => ({ organization_invites: ANYTHING, next_after: ANYTHING }),
  },
};
