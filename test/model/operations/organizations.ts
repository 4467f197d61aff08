import { SCOPES as NAMES_OF_SCOPES } from "../../../src/database/enums.ts";
import { BOOLEAN, kind, nullable, required, resource, text } from "../kinds.ts";
import {
  ANYTHING,
  type Client,
  found,
  idOf,
  invalid,
  Learned,
  type Model,
  type Organization,
  ownedBy,
  page,
  Refusal,
  type Request,
  requireUnchanged,
  timestamp,
  timestampOrNull,
  unprocessable,
  withId,
} from "../model.ts";
import { bodyId, type Operations, PAGE, pickOwned } from "../operation.ts";

const SCOPES: readonly string[] = NAMES_OF_SCOPES;

/** A setting of the service. */
const APP_URL = "http://localhost:3000";

export const organizationOf = (model: Model, { path }: Request): Organization =>
  withId(model.organizations, path.organization_id);

/** For the organization itself, with the address of the web app. */
const shownOwn = (organization: Organization) => ({ ...shared(organization), app_url: APP_URL });

const shared = (organization: Organization) => ({
  id: idOf(organization),
  name: organization.name,
  slug: organization.slug,
  recording_retention_days: organization.recording_retention_days,
  transcript_retention_days: organization.transcript_retention_days,
  participant_retention_days: organization.participant_retention_days,
  require_acting_user: organization.require_acting_user,
  region: null,
  time_zone: organization.time_zone,
  patient_identifier_system: organization.patient_identifier_system,
  created_at: timestamp(organization.created_at),
  updated_at: timestamp(organization.updated_at),
});

const shown = (organization: Organization) => ({
  ...shared(organization),
  is_suspended: organization.is_suspended,
});

const NAME = text(255, ["Riverside", "Hillside Clinic"]);
const DAYS = nullable(kind(({ chance }) => chance.pick([null, 1, 30, 36_500]), [0, 36_501, 1.5, "30"]));
const TIME_ZONE = nullable(
  kind(({ chance }) => chance.pick([null, "Europe/Berlin", "Asia/Kathmandu"]), ["+02:00", "Mars/Olympus", 2]),
);
const IDENTIFIER_SYSTEM = nullable(
  kind(({ chance }) => chance.pick([null, "urn:oid:2.999.7"]), ["patients", "urn:a|b", 2]),
);
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

const issued = (client: Client) => ({
  id: idOf(client),
  name: client.name,
  organization_user_id: client.member.id,
  client_id: client.client_id,
  scopes: client.scopes,
  expires_at: timestampOrNull(client.expires_at),
});

const listed = (client: Client) => ({
  ...issued(client),
  secret_hint: client.client_secret.slice(-4),
  last_used_at: ANYTHING,
  revoked_at: timestampOrNull(client.revoked_at),
});

const API_CLIENT = resource("api_client", {
  name: required(text(255, ["Integration", "Kiosk"])),
  organization_user_id: required(bodyId((model) => model.members)),
  scopes: nullable(
    kind(
      ({ chance }) =>
        chance.pick([
          null,
          ["rooms:read"],
          ["organization:write", "members:write"],
          ["rooms:write", "rooms:read"],
        ]),
      [[], ["everything"], "rooms:read"],
      (value) => Array.isArray(value) && value.length > 0 && value.every((each) => SCOPES.includes(each)),
      (value: string[]) => SCOPES.filter((scope) => value.includes(scope)),
    ),
  ),
  expires_at: nullable(
    kind(
      ({ chance, model }) =>
        chance.pick([null, new Date(model.now + 3_600_000_000).toISOString(), "2020-01-01T00:00:00Z"]),
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
  const client: Client = {
    ...{ id: 0, organization, member, name, scopes, expires_at, client_id: "", client_secret: "" },
    ...{ created_at: model.now, last_used_at: null, revoked_at: null },
  };
  model.clients.push(client);
  const learned = (field: "client_id" | "client_secret") =>
    new Learned((value: string) => {
      client[field] = value;
    });
  const secrets = { client_id: learned("client_id"), client_secret: learned("client_secret") };
  return { ...issued(client), ...secrets };
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
const aClient: Operations[string]["path"] = (choice) => {
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
    play(
      model,
      {
        body: {
          organization: { name, time_zone = null },
        },
      },
    ) {
      const organization: Organization = {
        ...{ id: 0, name, slug: "", mail_name: name },
        ...{
          recording_retention_days: null,
          transcript_retention_days: null,
          participant_retention_days: null,
        },
        ...{
          require_acting_user: false,
          time_zone,
          patient_identifier_system: null,
          is_suspended: false,
          created_at: model.now,
          updated_at: model.now,
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
    play: (_, { caller: { client, member } }) => ({
      ...issued(client),
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
