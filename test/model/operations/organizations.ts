import { SCOPES as NAMES_OF_SCOPES } from "../../../src/database/enums.ts";
import { HOUR } from "../../../src/units.ts";
import { BOOLEAN, kind, nullable, required, resource, someOf, text } from "../kinds.ts";
import {
  ANYTHING,
  type Client,
  found,
  invalid,
  Learned,
  type Model,
  newRow,
  type Organization,
  ownedBy,
  page,
  Refusal,
  type Request,
  requireUnchanged,
  timestamp,
  timestampOrNull,
  unprocessable,
  view,
  withId,
} from "../model.ts";
import { MEMBER, type Operations, PAGE, type Path, pickOwned } from "../operation.ts";

const SCOPES: readonly string[] = NAMES_OF_SCOPES;

/** A setting of the service. */
const APP_URL = "http://localhost:3000";

export const organizationOf = (model: Model, { path }: Request): Organization =>
  withId(model.organizations, path.organization_id);

const SHOWN =
  "name slug recording_retention_days transcript_retention_days participant_retention_days require_acting_user time_zone patient_identifier_system created_at updated_at";

/** For the organization itself, with the address of the web app. */
const shownOwn = (organization: Organization) =>
  view(organization, SHOWN, { region: null, app_url: APP_URL });

const shown = (organization: Organization) => view(organization, `${SHOWN} is_suspended`, { region: null });

const NAME = text(255, ["Riverside", "Hillside Clinic"]);
const DAYS = nullable(someOf([null, 1, 30, 36_500], [0, 36_501, 1.5, "30"]));
const TIME_ZONE = nullable(someOf([null, "Europe/Berlin", "Asia/Kathmandu"], ["+02:00", "Mars/Olympus", 2]));
const IDENTIFIER_SYSTEM = nullable(someOf([null, "urn:oid:2.999.7"], ["patients", "urn:a|b", 2]));
const CHANGEABLE = {
  name: NAME,
  recording_retention_days: DAYS,
  transcript_retention_days: DAYS,
  participant_retention_days: DAYS,
  require_acting_user: BOOLEAN,
  time_zone: TIME_ZONE,
  patient_identifier_system: IDENTIFIER_SYSTEM,
};

export const includesScope = (scopes: readonly string[] | null, scope: string) =>
  !scopes || scopes.includes(scope) || scopes.includes(scope.replace(/:read$/, ":write"));

const issued = (client: Client, more: object = {}) =>
  view(client, "name client_id scopes expires_at", { organization_user_id: client.member.id, ...more });

const listed = (client: Client) =>
  issued(client, {
    secret_hint: client.client_secret.slice(-4),
    last_used_at: ANYTHING,
    revoked_at: timestampOrNull(client.revoked_at),
  });

const API_CLIENT = resource("api_client", {
  name: required(text(255, ["Integration", "Kiosk"])),
  organization_user_id: required(MEMBER),
  scopes: nullable({
    ...someOf(
      [null, ["rooms:read"], ["organization:write", "members:write"], ["rooms:write", "rooms:read"]],
      [[], ["everything"], "rooms:read"],
      (value: string[]) => SCOPES.filter((scope) => value.includes(scope)),
    ),
    accepts: (value) =>
      Array.isArray(value) && value.length > 0 && value.every((each) => SCOPES.includes(each)),
  }),
  expires_at: nullable(
    kind(
      ({ chance, model }) => chance.pick([null, timestamp(model.now + 1000 * HOUR), "2020-01-01T00:00:00Z"]),
      ["soon", 5],
      undefined,
      (value: string) => Date.parse(value),
    ),
  ),
});

type Rights = Pick<Client, "scopes" | "expires_at">;

const FULL: Rights = { scopes: null, expires_at: null };

export const isLimited = ({ scopes, expires_at }: Rights) =>
  expires_at !== null || !SCOPES.every((scope) => includesScope(scopes, scope));

function issueClient(model: Model, organization: Organization, own: Rights, { body }: Request) {
  const { name, organization_user_id, scopes = null, expires_at = null } = body.api_client;
  const member = model.members.find((each) => each.id === organization_user_id);
  if (member?.organization !== organization || member.roles.length === 0) throw unprocessable("not_a_member");
  if (!(scopes ?? SCOPES).every((scope: string) => includesScope(own.scopes, scope)))
    throw unprocessable("beyond_own_rights");
  if ((expires_at ?? Number.POSITIVE_INFINITY) > (own.expires_at ?? Number.POSITIVE_INFINITY))
    throw unprocessable("beyond_own_rights");
  if (expires_at !== null && expires_at <= model.now) throw invalid();
  const rights = { scopes, expires_at, revoked_at: null };
  const fields = { organization, member, name, ...rights, client_id: "", client_secret: "" };
  const client: Client = { ...newRow(model), ...fields };
  model.clients.push(client);
  const learned = (field: "client_id" | "client_secret") =>
    new Learned((value: string) => {
      client[field] = value;
    });
  return issued(client, { client_id: learned("client_id"), client_secret: learned("client_secret") });
}

const clientsOf = (model: Model, organization: Organization) => ownedBy(organization, model.clients);

function revoke(model: Model, organization: Organization, { path }: Request, own?: Client) {
  const client = found(
    clientsOf(model, organization).find(
      ({ id, revoked_at }) => id === Number(path.id) && revoked_at === null,
    ),
  );
  if (client === own) throw unprocessable("own_client");
  client.revoked_at = model.now;
}

/** Mostly a client that the story has created. */
const aClient: Path = (choice) => {
  const { clients } = choice.model;
  return { id: pickOwned(choice, choice.chance.is(0.9) ? clients.slice(6) : clients)?.id };
};

export const ORGANIZATIONS: Operations = {
  "platform POST /organizations": {
    body: resource("organization", {
      name: required(NAME),
      slug: kind(() => undefined, ["A", "a--b", "-a", 5]),
      time_zone: TIME_ZONE,
    }),
    play(model, { body }) {
      const { name, time_zone = null } = body.organization;
      const retention = { recording_retention_days: null, transcript_retention_days: null };
      const organization: Organization = {
        ...{ ...newRow(model), name, slug: "", mail_name: name, time_zone, patient_identifier_system: null },
        ...{
          ...retention,
          participant_retention_days: null,
          require_acting_user: false,
          is_suspended: false,
        },
      };
      model.organizations.push(organization);
      const slug = new Learned((value: string) => {
        organization.slug = value;
      });
      return { ...shown(organization), slug };
    },
  },
  "platform GET /organizations/{organization_id}": {
    play: (model, request) => shown(organizationOf(model, request)),
  },
  "platform PUT /organizations/{organization_id}": {
    changesRights: true,
    body: resource("organization", { ...CHANGEABLE, is_suspended: BOOLEAN }),
    play(model, request) {
      const organization = organizationOf(model, request);
      requireUnchanged(request.sent.organization, { slug: organization.slug });
      Object.assign(organization, request.body.organization, { updated_at: model.now });
      if (request.body.organization.name !== undefined) organization.mail_name = organization.name;
      return shown(organization);
    },
  },
  "external GET /organization": {
    play: (_, { caller }) => shownOwn(caller.organization),
  },
  "external PUT /organization": {
    changesRights: true,
    roles: ["organization_admin"],
    body: resource("organization", CHANGEABLE),
    play(model, { caller: { organization }, body, sent }) {
      const { slug, is_suspended } = organization;
      requireUnchanged(sent.organization, { slug, is_suspended });
      Object.assign(organization, body.organization, { updated_at: model.now });
      return shownOwn(organization);
    },
  },
  "external GET /api_client": {
    area: null,
    play: (_, { caller: { client, member } }) =>
      issued(client, {
        roles: member.roles,
        last_used_at: ANYTHING,
        created_at: timestamp(client.created_at),
      }),
  },
  "external GET /api_clients": {
    roles: ["organization_admin"],
    query: PAGE,
    play: (model, request) =>
      page("api_clients", clientsOf(model, request.caller.organization), request, listed),
  },
  "external POST /api_clients": {
    roles: ["organization_admin"],
    body: API_CLIENT,
    play: (model, request) => issueClient(model, request.caller.organization, request.caller.client, request),
  },
  "external DELETE /api_clients/{id}": {
    roles: ["organization_admin"],
    path: aClient,
    changesRights: true,
    play: (model, request) => revoke(model, request.caller.organization, request, request.caller.client),
  },
  "platform GET /organizations/{organization_id}/api_clients": {
    query: PAGE,
    play: (model, request) =>
      page("api_clients", clientsOf(model, organizationOf(model, request)), request, listed),
  },
  "platform POST /organizations/{organization_id}/api_clients": {
    body: API_CLIENT,
    play: (model, request) => issueClient(model, organizationOf(model, request), FULL, request),
  },
  "platform DELETE /organizations/{organization_id}/api_clients/{id}": {
    path: aClient,
    changesRights: true,
    play: (model, request) => revoke(model, organizationOf(model, request), request),
  },
};

/** The client of a request, if it may ask at all. */
export function requireClient(model: Model, client: Client | undefined): Client {
  const isKnown = client && client.revoked_at === null && client.member.roles.length > 0;
  const isExpired = client && client.expires_at !== null && client.expires_at <= model.now;
  if (!isKnown || isExpired) throw new Refusal(401, "invalid_client");
  return client;
}
