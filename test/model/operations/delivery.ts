import { DAY } from "../../../src/units.ts";
import { BOOLEAN, numeral, object, oneOf, required, resource, someOf, text } from "../kinds.ts";
import {
  ANYTHING,
  dateOf,
  type Endpoint,
  type Input,
  type Model,
  newRow,
  notFound,
  type Organization,
  ownedBy,
  type Request,
  unprocessable,
  view,
  withId,
} from "../model.ts";
import { type Operations, PAGE, PER_PAGE, pathOf, RANGE } from "../operation.ts";
import { organizationOf } from "./organizations.ts";

/** The receiver of these webhooks accepts everything. */
export const RECEIVER = "https://hooks.example.com/visits";

const EVENTS = ["call.ended", "visit.created"];

const shown = (endpoint: Endpoint, more: object = {}) =>
  view(endpoint, "url is_active disabled_reason created_at updated_at", {
    event_types: endpoint.event_types ?? ANYTHING,
    ...more,
  });

const endpointOf = (model: Model, { caller, path }: Request): Endpoint =>
  withId(ownedBy(caller.organization, model.endpoints), path.id);

/** An endpoint outlives its request, so a client that expires cannot make or change one. */
function requireLasting({ caller }: Request): void {
  if (caller.client.expires_at !== null) throw unprocessable("beyond_own_rights");
}

const ENDPOINT = {
  url: text(2000, [RECEIVER], ["", 5]),
  event_types: someOf(
    [[EVENTS[0]], [...EVENTS, ...EVENTS]],
    [[], ["call.over"], "call.ended"],
    (names: string[]) => EVENTS.filter((name) => names.includes(name)),
  ),
  is_active: BOOLEAN,
};

const forAdmins = (area: string) =>
  ({ area, roles: ["organization_admin"] }) satisfies Partial<Operations[string]>;

const admin = forAdmins("events");
const anEndpoint = { ...admin, path: pathOf(({ endpoints }) => endpoints) };

const TYPE = oneOf([...EVENTS, "call.*"], ["calls"]);
const AFTER_ID = numeral(["0", "3", "1000000000"], ["x", "-1"]);
const AFTER_EVENT = numeral(["1", "1000000000"], ["0", "x"]);

function usage(model: Model, organization: Organization, { from, to = dateOf(model.now) }: Input) {
  const waiting_rooms_count = ownedBy(organization, model.rooms).filter(({ owner }) => !owner).length;
  const isEmpty = from !== undefined && from > to;
  return { usage: isEmpty ? [] : ANYTHING, waiting_rooms_count, waiting_rooms_limit: 20_000 };
}

export const DELIVERY: Operations = {
  "external GET /events": {
    ...admin,
    query: { type: TYPE, after: AFTER_ID, ...PER_PAGE },
    play: () => ({ events: ANYTHING, next_after: ANYTHING }),
  },
  "platform GET /events": {
    query: { type: TYPE, after: oneOf(["0"], ["x", "-1"]), ...PER_PAGE },
    play: () => ({ events: ANYTHING, next_after: ANYTHING }),
  },
  "external GET /webhook_endpoints": {
    ...admin,
    play: (model, { caller }) => ({
      webhook_endpoints: ownedBy(caller.organization, model.endpoints).map((each) => shown(each)),
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
        ...{ ...newRow(model), organization, creator, event_types: null, is_active: true },
        ...{ disabled_reason: null, rotatedAt: [], ...request.body.webhook_endpoint },
      };
      model.endpoints.push(endpoint);
      return shown(endpoint, { secret: ANYTHING });
    },
  },
  "external GET /webhook_endpoints/{id}": {
    ...anEndpoint,
    play: (model, request) => shown(endpointOf(model, request)),
  },
  "external PUT /webhook_endpoints/{id}": {
    ...anEndpoint,
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
    ...anEndpoint,
    play(model, request) {
      const endpoint = endpointOf(model, request);
      model.endpoints.splice(model.endpoints.indexOf(endpoint), 1);
    },
  },
  "external POST /webhook_endpoints/{id}/rotate_secret": {
    status: 200,
    ...anEndpoint,
    play(model, request) {
      requireLasting(request);
      const endpoint = endpointOf(model, request);
      const recent = endpoint.rotatedAt.filter((time) => time + DAY > model.now);
      if (recent.length >= 5) throw unprocessable("too_many_secrets");
      endpoint.rotatedAt = [...recent, model.now];
      endpoint.updated_at = model.now;
      return shown(endpoint, { secret: ANYTHING });
    },
  },
  "external GET /webhook_endpoints/{id}/deliveries": {
    ...anEndpoint,
    query: { after: AFTER_EVENT, ...PER_PAGE },
    play(model, request) {
      endpointOf(model, request);
      return { deliveries: ANYTHING, next_after: ANYTHING };
    },
  },
  "external POST /webhook_endpoints/{id}/redeliver": {
    status: 200,
    ...anEndpoint,
    body: object({ after: required(someOf([0, 1_000_000_000], [-1, "0"])) }),
    play(model, request) {
      if (!endpointOf(model, request).is_active) throw unprocessable("endpoint_inactive");
      const isNone = request.body.after > 0;
      return { redelivered_count: isNone ? 0 : ANYTHING, next_after: ANYTHING };
    },
  },
  "external POST /webhook_endpoints/{id}/ping": {
    status: 200,
    ...anEndpoint,
    body: object({ type: oneOf(EVENTS, ["call.over"]) }),
    play(model, request) {
      endpointOf(model, request);
      return { response_status: 204, error: null };
    },
  },
  "external GET /access_logs": {
    ...forAdmins("audit"),
    isRecorded: true,
    query: {
      ...RANGE,
      after: AFTER_ID,
      ...PER_PAGE,
      event: oneOf(["read", "delete"], ["look"]),
      resource: oneOf(["call", "visit"], ["patient"]),
    },
    play: () => ({ access_logs: ANYTHING, next_after: ANYTHING }),
  },
  "external GET /access_log_seals": {
    ...forAdmins("audit"),
    query: { after: AFTER_ID, ...PER_PAGE },
    play: () => ({ access_log_seals: [], next_after: ANYTHING }),
  },
  "external GET /access_logs/{date}": {
    ...forAdmins("audit"),
    isRecorded: true,
    path: ({ model }) => ({ date: dateOf(model.now) }),
    play() {
      throw notFound();
    },
  },
  "external GET /usage": {
    area: "organization",
    query: RANGE,
    play: (model, request) => usage(model, request.caller.organization, request.query),
  },
  "platform GET /organizations/{organization_id}/usage": {
    query: RANGE,
    play: (model, request) => usage(model, organizationOf(model, request), request.query),
  },
  "platform GET /organizations": {
    query: PAGE,
    play: () => ({ organizations: ANYTHING, pagination: ANYTHING }),
  },
  "platform GET /invites": {
    query: { status: oneOf(["active"], ["expired"]), after: oneOf(["0"], ["x"]), ...PER_PAGE },
    play: () => ({ organization_invites: ANYTHING, next_after: ANYTHING }),
  },
};
