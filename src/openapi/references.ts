import { MAX_PER_PAGE } from "../limits.ts";
import { apiClientsReference } from "../resources/api_clients/api_clients.openapi.ts";
import { authorizationCodesReference } from "../resources/authorization_codes/authorization_codes.openapi.ts";
import { bulkInvitesReference } from "../resources/bulk_invites/bulk_invites.openapi.ts";
import { callMetricsReference } from "../resources/call_metrics/call_metrics.openapi.ts";
import { callsReference } from "../resources/calls/calls.openapi.ts";
import { egressAuditLogsReference } from "../resources/egress_audit_logs/egress_audit_logs.openapi.ts";
import { egressesReference } from "../resources/egresses/egresses.openapi.ts";
import { invitesReference } from "../resources/invites/invites.openapi.ts";
import { issuersReference } from "../resources/issuers/issuers.openapi.ts";
import { organizationUsersReference } from "../resources/organization_users/organization_users.openapi.ts";
import { organizationsReference } from "../resources/organizations/organizations.openapi.ts";
import { participantsReference } from "../resources/participants/participants.openapi.ts";
import { rolesReference } from "../resources/roles/roles.openapi.ts";
import { soapNotesReference } from "../resources/soap_notes/soap_notes.openapi.ts";
import { tokenExchangeReference } from "../resources/token_exchange/token_exchange.openapi.ts";
import { transcriptsReference } from "../resources/transcripts/transcripts.openapi.ts";
import { waitingRoomSubsReference } from "../resources/waiting_room_subs/waiting_room_subs.openapi.ts";
import { waitingRoomsReference } from "../resources/waiting_rooms/waiting_rooms.openapi.ts";
import type { Reference } from "./operation.ts";

/** The resources in the order of the contract, then those that the platform alone knows. */
export const references: Reference[] = [
  tokenExchangeReference,
  waitingRoomsReference,
  waitingRoomSubsReference,
  callMetricsReference,
  transcriptsReference,
  soapNotesReference,
  egressesReference,
  egressAuditLogsReference,
  invitesReference,
  bulkInvitesReference,
  rolesReference,
  organizationUsersReference,
  callsReference,
  organizationsReference,
  apiClientsReference,
  issuersReference,
  authorizationCodesReference,
  participantsReference,
];

/** Parameters mean the same wherever they stand. */
export const parameterDescriptions: Record<string, string> = {
  page: "The page to show, from 1. A page past the end is an empty list.",
  per_page: `How many to show on a page; more than ${MAX_PER_PAGE} are served as ${MAX_PER_PAGE}.`,
  slug: "The room's current slug.",
  waiting_room_slug: "The room's current slug.",
  id: "The id of what stands before it in the path.",
  key: "The reporter's own key of what stands before it in the path.",
  organization_user_id: "The organization user whose call it is.",
  call_id: "The call.",
  egress_id: "The egress: its `id` in the external API, its `egress_id` in the platform API.",
  date_start: "The first date of the range.",
  date_end: "The last date of the range.",
  user_id: "The user whose calls count; left out, the whole organization's do.",
  event: "Entries of this event alone.",
  from: "Entries from the start of this day, in UTC.",
  to: "Entries through the end of this day, in UTC; not before `from`.",
};
