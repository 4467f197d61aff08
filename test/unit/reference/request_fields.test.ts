import { expect, it } from "vitest";
import { documentedOperations, isOf, type JsonSchema } from "../../project/support/request_schemas.ts";

/** Matches a character that is not a space, control, format or filler character. */
const VISIBLE =
  "[^\\s\\x00-\\x1f\\x7f-\\x9f\\u00ad\\u0600-\\u0605\\u061c\\u06dd\\u070f\\u0890\\u0891\\u08e2\\u115f\\u1160\\u180e\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\u2800\\u3164\\ufeff\\uffa0\\ufff9-\\ufffb]";

const NO_NAME = "\\x00-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069";

/** A name for each pattern of a text. */
const KINDS: Record<string, string> = {
  // Not blank, and without control characters.
  [`^[^\\x00-\\x1f\\x7f-\\x9f]*${VISIBLE}[^\\x00-\\x1f\\x7f-\\x9f]*$`]: "line",
  // A line without characters that change the direction of text.
  [`^[^${NO_NAME}]*${VISIBLE}[^${NO_NAME}]*$`]: "name",
  // Not blank, but may have line breaks.
  [`^[^\\x00]*${VISIBLE}[^\\x00]*$`]: "text",
  // Empty, or not blank.
  [`^([^\\x00]*${VISIBLE}[^\\x00]*)?$`]: "any text",
  // As in an email field of HTML.
  "^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$":
    "email",
  "^[Hh][Tt][Tt][Pp][Ss]?:[^\\x00-\\x1f\\x7f-\\x9f]*$": "URL",
  "([Zz]|\\+00(:?00)?)$": "UTC",
  // Without empty, . and .. segments.
  "^(\\.\\.[^/\\x00]+|\\.?[^./\\x00][^/\\x00]*)(/(\\.\\.[^/\\x00]+|\\.?[^./\\x00][^/\\x00]*))*$": "path",
  "^[a-z0-9](-?[a-z0-9])*$": "hyphenated",
  "^[a-z0-9-]+$": "slug",
  "^(UTC|[A-Z][A-Za-z_]*(\\/[A-Za-z0-9_+-]+)+)$": "zone",
  "^[1-9]\\d*$": "digits",
  "^[ -~]*$": "ASCII",
  "^(\\d+|\\d{1,5}\\.\\d{1,16}(~\\d{1,5}\\.\\d{1,16})*)$": "position",
};

function kindOf(schema: JsonSchema): string {
  const { minimum = 0, maximum = 0, minItems = 0, maxItems, pattern, format, maxLength } = schema;
  if (schema.enum) return schema.enum.includes("call.started") ? "type" : schema.enum.join("|");
  if (isOf(schema, "array")) return `${minItems}..${maxItems} of ${kindOf(schema.items ?? {})}`;
  if (isOf(schema, "string")) return `${pattern ? KINDS[pattern] : (format ?? "any")} ${maxLength}`;
  const name = String([schema.type].flat()[0]);
  if (name === "boolean" || name === "object") return name;
  return `${name} ${minimum}..${maximum === 0 || maximum === Number.MAX_SAFE_INTEGER ? "" : maximum}`;
}

function fieldsOf({ properties = {}, required = [] }: JsonSchema): string[] {
  return Object.entries(properties).flatMap(([name, field]) => [
    `${name}${required.includes(name) ? "!" : ""} ${kindOf(field)}${isOf(field, "null") ? " or null" : ""}`,
    ...fieldsOf(field.items ?? field).map((each) => `${name}.${each}`),
  ]);
}

/** The fields of each request and, after ?, its query parameters, except those for paging. A ! marks a required field. */
const EXPECTED = `
POST /external/auth/token_exchange: token_exchange! object, token_exchange.token! any 262144
GET /external/waiting_rooms: ?id integer 1..
POST /external/waiting_rooms:
  waiting_room! object, waiting_room.name! name 255, waiting_room.theme line 50,
  waiting_room.is_active boolean
PUT /external/waiting_rooms/{slug}:
  waiting_room! object, waiting_room.name name 255, waiting_room.theme line 50,
  waiting_room.is_active boolean
POST /external/waiting_rooms/{waiting_room_slug}/waiting_room_subs:
  waiting_room_sub! object, waiting_room_sub.user_id! integer 1.., waiting_room_sub.datetime_start! UTC 64,
  waiting_room_sub.datetime_end UTC 64 or null
PUT /external/waiting_rooms/{waiting_room_slug}/waiting_room_subs/{id}:
  waiting_room_sub! object, waiting_room_sub.user_id integer 1.. or null,
  waiting_room_sub.datetime_start UTC 64, waiting_room_sub.datetime_end UTC 64
GET /external/call_metrics: ?date_start date 10, ?date_end date 10, ?user_id digits 1000
GET /external/organization_users/{organization_user_id}/calls/{call_id}/egresses/{egress_id}/audit_logs:
  ?event create|update|read, ?from date 10, ?to date 10
GET /external/invites: ?status active|expired
POST /external/invites:
  organization_invite! object, organization_invite.email! email 254,
  organization_invite.display_name! name 255,
  organization_invite.role_names! 1..10 of provider_assistant|provider|organization_admin
POST /external/invites/bulk_create:
  organization_invites! 1..1000 of object, organization_invites.email! email 254,
  organization_invites.display_name! name 255,
  organization_invites.role_names! 1..10 of provider_assistant|provider|organization_admin
PUT /external/organization_users/{id}:
  organization_user! object, organization_user.display_name name 255,
  organization_user.roles 1..10 of provider_assistant|provider|organization_admin,
  organization_user.assists 0..1000 of integer 1..
GET /external/calls: ?from date 10, ?to date 10, ?external_reference line 255, ?participant_reference line 255
GET /external/organization_users/{organization_user_id}/calls:
  ?from date 10, ?to date 10, ?external_reference line 255
PUT /external/organization_users/{organization_user_id}/calls/{call_id}:
  call! object, call.external_reference line 255 or null
GET /external/access_log_seals: ?after integer 0..
GET /external/events: ?type type, ?after integer 0..
POST /external/webhook_endpoints:
  webhook_endpoint! object, webhook_endpoint.url! URL 2000, webhook_endpoint.event_types 1..100 of type,
  webhook_endpoint.is_active boolean
PUT /external/webhook_endpoints/{id}:
  webhook_endpoint! object, webhook_endpoint.url URL 2000, webhook_endpoint.event_types 1..100 of type,
  webhook_endpoint.is_active boolean
GET /external/webhook_endpoints/{id}/deliveries: ?after integer 1..
POST /external/webhook_endpoints/{id}/redeliver: after! integer 0..
GET /external/access_logs:
  ?call_id integer 1.., ?acting_user ASCII 64, ?user_id integer 1..,
  ?resource transcript|soap_note|egress|participant|consent|call|legal_hold|access_log|organization|organization_user|api_client|issuer|invite|webhook_endpoint|waiting_room|visit,
  ?event read|search|create|update|delete|sign_in|sign_in_refused, ?external_reference line 255, ?from date 10, ?to date 10,
  ?after integer 0..
POST /platform/organizations:
  organization! object, organization.name! name 255, organization.slug hyphenated 63,
  organization.time_zone zone 64 or null
PUT /platform/organizations/{organization_id}:
  organization! object, organization.name name 255,
  organization.recording_retention_days integer 1..36500 or null,
  organization.transcript_retention_days integer 1..36500 or null,
  organization.participant_retention_days integer 1..36500 or null, organization.require_acting_user boolean,
  organization.time_zone zone 64 or null, organization.is_suspended boolean
POST /platform/organizations/{organization_id}/api_clients:
  api_client! object, api_client.name! name 255, api_client.organization_user_id! integer 1..
POST /platform/organizations/{organization_id}/issuers:
  issuer! object, issuer.issuer! line 1000, issuer.audience! line 1000, issuer.jwks_url! URL 1000,
  issuer.email_claim name 255
PUT /platform/organizations/{organization_id}/calls/{key}/transcript:
  transcript! object, transcript.summary any text 200000 or null, transcript.is_final boolean,
  transcript.lines 0..10000 of object, transcript.lines.participant_key! line 255,
  transcript.lines.text! text 10000, transcript.lines.start_time! number 0..,
  transcript.lines.end_time! number 0..
PUT /platform/organizations/{organization_id}/calls/{key}/soap_note:
  soap_note! object, soap_note.text text 200000, soap_note.is_final boolean
PUT /platform/organizations/{organization_id}/egresses/{egress_id}:
  egress! object, egress.call_key line 255,
  egress.status egress_starting|egress_active|egress_ending|egress_ended, egress.is_stopped boolean or null,
  egress.error text 2000 or null, egress.ended_at date-time 64 or null, egress.storage_key path 1024 or null,
  egress.user_id integer 1.. or null
GET /platform/invites: ?status active, ?after position 1000
POST /platform/invites/accept: token! any 200000
POST /platform/organizations/{organization_id}/users:
  user! object, user.email! email 254, user.display_name! name 255,
  user.roles! 1..10 of provider_assistant|provider|organization_admin, user.assists 0..1000 of integer 1..
PUT /platform/organizations/{organization_id}/users/{organization_user_id}:
  user! object, user.display_name name 255,
  user.roles 1..10 of provider_assistant|provider|organization_admin, user.assists 0..1000 of integer 1..
PUT /platform/organizations/{organization_id}/calls/{key}:
  call! object, call.waiting_room_slug slug 4000, call.organization_user_id integer 1..,
  call.started_at date-time 64, call.ended_at date-time 64 or null, call.failed boolean or null,
  call.legal_hold boolean, call.external_reference line 255 or null, call.participants 0..500 of object,
  call.participants.display_name name 255, call.participants.role recipient|provider,
  call.participants.user_id integer 1.. or null, call.participants.external_reference line 255 or null,
  call.participants.waiting_since date-time 64 or null, call.participants.joined_at date-time 64 or null,
  call.participants.left_at date-time 64 or null, call.participants.recording_consent boolean,
  call.participants.recording_consent_at date-time 64, call.participants.recording_consent_method line 50,
  call.participants.key! line 255
PUT /platform/organizations/{organization_id}/calls/{key}/legal_hold:
  legal_hold! object, legal_hold.reason text 1000 or null
POST /platform/authorization_codes/redeem: code! any 200000
PUT /platform/waiting_rooms/{slug}/participants/{key}:
  participant! object, participant.display_name name 255, participant.role recipient|provider,
  participant.user_id integer 1.. or null, participant.external_reference line 255 or null,
  participant.waiting_since date-time 64, participant.left_at date-time 64 or null
`;

/** test/project/published_limits.long.test.ts checks that the service enforces these limits. */
it("The published documents allow in requests what the contract allows", () => {
  const fields = documentedOperations.flatMap(({ api, method, path, parameters, body }) =>
    [
      ...parameters
        .filter((each) => each.in === "query" && !["page", "per_page"].includes(each.name))
        .map(({ name, required, schema }) => `?${name}${required ? "!" : ""} ${kindOf(schema)}`),
      ...(body ? fieldsOf(body.schema) : []),
    ].map((field) => `${method} /${api}${path}: ${field}`),
  );
  const expected = EXPECTED.trim()
    .split(/\n(?! )/)
    .flatMap((each) => {
      const [operation, all = ""] = each.split(/:\s+/);
      return all.split(/,\s+/).map((field) => `${operation}: ${field.replace(/\s+/g, " ")}`);
    });
  expect(expected.filter((each) => !fields.includes(each))).toEqual([]);
});
