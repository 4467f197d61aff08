import { MAX_PER_PAGE } from "../limits.ts";
import { liveKitReference } from "../livekit/livekit.openapi.ts";
import { apiClientsReference } from "../resources/api_clients/api_clients.openapi.ts";
import { authorizationCodesReference } from "../resources/authorization_codes/authorization_codes.openapi.ts";
import { bulkInvitesReference } from "../resources/bulk_invites/bulk_invites.openapi.ts";
import { callMetricsReference } from "../resources/call_metrics/call_metrics.openapi.ts";
import { callsReference } from "../resources/calls/calls.openapi.ts";
import { egressAuditLogsReference } from "../resources/egress_audit_logs/egress_audit_logs.openapi.ts";
import { egressesReference } from "../resources/egresses/egresses.openapi.ts";
import { eventsReference } from "../resources/events/events.openapi.ts";
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
import { webhookDeliveriesReference } from "../resources/webhook_deliveries/webhook_deliveries.openapi.ts";
import { webhookEndpointsReference } from "../resources/webhook_endpoints/webhook_endpoints.openapi.ts";
import type { Reference } from "./operation.ts";

/**
 * First what an operator sets up through the platform door, then the resources in the order of the contract, and what is
 * beyond it.
 */
export const references: Reference[] = [
  organizationsReference,
  apiClientsReference,
  issuersReference,
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
  eventsReference,
  webhookEndpointsReference,
  webhookDeliveriesReference,
  authorizationCodesReference,
  participantsReference,
  liveKitReference,
];

/** A parameter means the same in every operation. */
export const parameterDescriptions: Record<string, string> = {
  "Idempotency-Key":
    "A text that your client makes for this request, for example a UUID, with or without quotes. If the request is sent again with it, nothing is made a second time.",
  page: "The number of the page. The first page is 1. A page past the end is an empty list.",
  per_page: `The number of items on a page. A value above ${MAX_PER_PAGE} counts as ${MAX_PER_PAGE}.`,
  slug: "The current slug of the waiting room.",
  waiting_room_slug: "The current slug of the waiting room.",
  id: "The id of the resource that comes before it in the path.",
  key: "The reporter's own key for the resource that comes before it in the path.",
  organization_user_id:
    "The id of the organization user. Before `calls` in the path: the one who held the calls.",
  call_id: "The id of the call.",
  egress_id: "The egress: its `id` in the external API, its `egress_id` in the platform API.",
  type: "Only events of this type.",
  after:
    "Where to go on: the `next_after` of the response before, or the id of an event. Without it, the list begins at its start.",
  date_start: "The first date of the range, in UTC.",
  date_end: "The last date of the range, in UTC. It is part of the range.",
  user_id: "Only the calls of this user count. Without it, the calls of the whole organization count.",
  event: "Only entries of this event.",
  from: "Only entries from the start of this day (UTC).",
  to: "Only entries up to the end of this day (UTC). It must not be before `from`.",
};
