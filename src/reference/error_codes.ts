import { ERROR_CODE, methodNotAllowed } from "../http/errors.ts";
import { notReady } from "../http/health.ts";
import type { Document, Operation } from "./site/openapi.ts";

/** Advice for each error code. The codes are declared with their errors in `.refusals.ts`; the build compares both. */
const CODES: Record<string, string> = {
  account_exists:
    "The email already has an account in the organization. Change the existing organization user instead.",
  access_log_limit:
    "Wait as long as `Retry-After` says, and request whole days of the access log less often.",
  acting_user_required: "Send `X-Acting-User` and `X-Purpose-Of-Use`: the organization requires them here.",
  address_limit: "Correct the credentials. Requests with the right credentials are still served.",
  address_mail_limit: "Try again after midnight UTC.",
  already_carried_out: "The request was not carried out again. The text says how to get a new secret.",
  api_clients_used_up: "Ask the operator to create the API client.",
  beyond_own_rights:
    "Stay within the limits of your API client, which `GET /api_client` shows, or use a client without them.",
  body_timeout: "Send the request again, faster. The text states the slowest rate.",
  body_too_large: "Send less in one request. The text states the limit.",
  bulk_invite_limit: "Wait as long as `Retry-After` says, and put more rows into one request.",
  bulk_row_limit: "Send fewer rows, or try again after the time in `Retry-After`.",
  call_unknown: "Report the call first, then send this report again.",
  changed_meanwhile: "Read the resource again, then decide what to change.",
  client_entry_limit: "Wait until midnight UTC, or let another API client of the organization read.",
  client_limit: "Wait as long as `Retry-After` says.",
  client_write_limit: "Wait until midnight UTC, or let another API client of the organization write.",
  database_unavailable: "Send the request again after the time in `Retry-After`.",
  endpoint_inactive: "Set `is_active` of the webhook endpoint to true first.",
  field_not_changeable: "Leave the field out, or follow the advice in the text.",
  file_not_deleted: "Nothing. The service keeps trying to delete the file.",
  file_of_other_organization: "Store the file under a key that begins with the organization's slug.",
  file_of_other_recording: "Store each recording under its own storage key.",
  file_unavailable: "Send the request again after the time in `Retry-After`.",
  first_report_incomplete: "Add the missing fields that the text names: the first report needs them.",
  hold_of_platform: "Ask the platform, which placed the legal hold, to end it.",
  https_required: "Use an https address. Replace the credentials: they were sent unencrypted.",
  idempotency_key_reused: "Use a new key for each request.",
  identity_provider_unavailable:
    "Send the token again after the time in `Retry-After`. If the error persists, check the issuer's `jwks_url`.",
  internal_error:
    "Try again a few times, with growing pauses. If the error persists, report the `X-Request-Id`.",
  invalid_acting_user:
    "Send a shorter text of printable ASCII characters, such as your own id for the person.",
  invalid_client: "Check `X-Client-ID` and `X-Client-Secret`, and whether the API client was revoked.",
  invalid_code: "Exchange the token again: a code works only once, and only for a short time.",
  invalid_idempotency_key:
    "Send, for example, a UUID: the key has a character that is not printable ASCII, or is too long.",
  invalid_if_match:
    "Send the `ETag` of the response as it is, with its quotes, and only to change or delete its resource.",
  invalid_livekit_signature:
    "Check that the LiveKit server and this service have the same API key and secret.",
  invalid_platform_token: "Check the token in `Authorization`.",
  invalid_purpose_of_use: "Send one of the values that the text lists.",
  invalid_token:
    "Have the person sign in again at the identity provider. If the error persists, ask the operator.",
  invite_expired: "Ask the organization to send the invite again.",
  invite_pending: "The person must accept their invite. To send it again, use `POST /invites/{id}/resend`.",
  invite_sent_recently: "Wait for the mail, or try again after the time in `Retry-After`.",
  invite_used: "The person has an account: let them sign in.",
  issuer_exists: "Delete the existing issuer first, or use it.",
  legal_hold: "End the legal hold first.",
  line_unknown: "Read the transcript again, and use the ids of its lines.",
  link_invalid: "Ask for a new link.",
  link_withdrawn: "Ask the organization: the visit no longer has this participant, or its room was retired.",
  malformed_json: "Send valid JSON in UTF-8.",
  method_not_allowed: "Use one of the methods in the header `Allow`.",
  missing_role: "Use an API client of a user with the role that the text names.",
  missing_scope: "Use an API client with the scope, or a platform token for the route: the text names it.",
  names_erased: "Nothing: erased names are not restored. Plan a new visit if you need one.",
  not_a_former_member:
    "Use the id of a user whose membership has ended, or leave it out. For an invite that was accepted too late: the person can sign in.",
  not_a_member: "Use the id of a user of the same organization.",
  not_a_provider: "Use a person with the role provider whom your client can reach.",
  not_an_assistant: "Give the person the role provider_assistant first, or leave `assists` out.",
  not_found:
    "Check the path, and whether your client may see the resource. Results of a call may arrive later.",
  not_ready: "For the operator: find the cause in the log by the request id.",
  organization_entry_limit: "Wait until midnight UTC.",
  organization_limit: "Wait as long as `Retry-After` says.",
  organization_mail_limit: "Try again after midnight UTC.",
  organization_moves: "Send the request again after the time in `Retry-After`.",
  organization_suspended: "Ask the people who run the service. They can resume the organization.",
  organization_reserve_limit: "Wait until midnight UTC. If it is urgent, ask the operator.",
  organization_sign_in_limit: "Wait until midnight UTC.",
  organization_write_limit: "Wait until midnight UTC.",
  other_call: "Leave `call_key` out: a recording stays with the call of its first report.",
  own_client: "Revoke the API client with another one.",
  own_user: "Use an API client of another organization_admin.",
  owner_substitutes: "Name a provider other than the owner of the room.",
  participant_incomplete: "Send `display_name` and `role` of each new participant.",
  participant_left: "Report the returning person under a new key.",
  participant_on_other_call: "Report the person under a new key.",
  participant_unknown: "Read the visit again, and use the ids of its participants, or none for a new one.",
  personal_room: "Remove the role provider: the personal room is then retired.",
  provider_without_account: "Send the `user_id` of the provider.",
  recording_not_ended: "Wait until the recording and its call have ended.",
  redelivery_limit: "Wait as long as `Retry-After` says.",
  role_above_level: "Assign only roles from `GET /roles`.",
  room_in_use: "Wait until the participants have left and the call has ended.",
  room_inactive: "Set `is_active` of the room to true first.",
  room_unknown: "Use the current slug of an active room of the organization.",
  service_quiet: "Wait until the operator resumes the service, which was restored from a backup.",
  slug_outdated: "Read the list of rooms, and use the room's current slug.",
  slug_taken: "Choose another slug, or leave it out.",
  speaker_unknown: "Report the participant with the call first.",
  sub_overlaps: "Choose other times, or change or delete the other sub.",
  text_deleted: "Nothing: a deleted text cannot be reported again.",
  text_final: "Correct the final text in the external API.",
  text_not_final: "Wait until the text is final and its call has ended.",
  theme_not_offered: "Use one of the themes that the text lists.",
  too_many_api_clients: "Revoke an API client first.",
  too_many_bodies: "Send the request again after the time in `Retry-After`, with a `Content-Length`.",
  too_many_consent_decisions: "Report `recording_consent` only when it changes.",
  too_many_corrections: "Nothing: the text cannot be corrected any more.",
  too_many_endpoints: "Delete a webhook endpoint first.",
  too_many_invites: "Delete unused invites first, such as expired ones.",
  too_many_rooms: "Rename a room instead.",
  too_many_secrets: "Wait until an old secret has expired.",
  too_many_subs: "Delete a sub first, or wait until one has ended.",
  too_many_visits: "Cancel planned visits first.",
  transcript_too_long: "Shorten the summary or the lines.",
  unknown_parameter:
    "Correct the name of the parameter. The text lists those of the operation, the most similar first.",
  unsupported_encoding: "Send the body as it is, without `Content-Encoding`.",
  url_not_allowed: "Use a public https address, as the text says.",
  user_has_api_clients: "Revoke the API clients that the text lists, or add `?revoke_api_clients=true`.",
  validation_failed: "Correct the fields or parameters that the text names.",
  visit_cancelled: "Plan another visit.",
  visit_not_changeable: "Plan another visit: this one has started, ended or was cancelled.",
  visit_over: "Plan another visit.",
  write_conflict: "Send the request again after the time in `Retry-After`.",
};

export const codesOf = ({ responses }: Operation): string[] =>
  Object.values(responses).flatMap(
    ({ headers = {} }) => (headers[ERROR_CODE]?.schema.enum ?? []) as string[],
  );

export const codesIn = (openapi: object): string[] =>
  Object.values((openapi as Document).paths).flatMap((methods) => Object.values(methods).flatMap(codesOf));

/** The errors that belong to no operation: of a method that a path does not have, and of `/health`. */
const OF_NO_OPERATION = [methodNotAllowed([]), notReady("database_unreachable")];

/** @throws Error if an error's code has no advice, or advice is for a code that no error has */
export function requireAdvice(codes: ReadonlySet<string>) {
  const all = new Set([...codes, ...OF_NO_OPERATION.map(({ code }) => code)]);
  const silent = [...all].filter((code) => !(code in CODES));
  const unused = Object.keys(CODES).filter((code) => !all.has(code));
  if (silent.length + unused.length > 0)
    throw new Error(`error_codes.ts lacks [${silent.join(", ")}], and no error has [${unused.join(", ")}]`);
}

export const codesTable = [
  "| Code | Action |",
  "| --- | --- |",
  ...Object.entries(CODES)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([code, advice]) => `| \`${code}\` | ${advice} |`),
].join("\n");
