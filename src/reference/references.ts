import { liveKitReference } from "../livekit/livekit.openapi.ts";
import type { Reference } from "../openapi/operation.ts";
import { accessLogSealsReference } from "../resources/access_log_seals/access_log_seals.openapi.ts";
import { accessLogsReference } from "../resources/access_logs/access_logs.openapi.ts";
import { apiClientsReference } from "../resources/api_clients/api_clients.openapi.ts";
import { authorizationCodesReference } from "../resources/authorization_codes/authorization_codes.openapi.ts";
import { bulkInvitesReference } from "../resources/bulk_invites/bulk_invites.openapi.ts";
import { callMetricsReference } from "../resources/call_metrics/call_metrics.openapi.ts";
import { callTextVersionsReference } from "../resources/call_text_versions/call_text_versions.openapi.ts";
import { callsReference } from "../resources/calls/calls.openapi.ts";
import { consentsReference } from "../resources/consents/consents.openapi.ts";
import { egressAuditLogsReference } from "../resources/egress_audit_logs/egress_audit_logs.openapi.ts";
import { egressesReference } from "../resources/egresses/egresses.openapi.ts";
import { eventsReference } from "../resources/events/events.openapi.ts";
import { invitesReference } from "../resources/invites/invites.openapi.ts";
import { issuersReference } from "../resources/issuers/issuers.openapi.ts";
import { legalHoldsReference } from "../resources/legal_holds/legal_holds.openapi.ts";
import { organizationUsersReference } from "../resources/organization_users/organization_users.openapi.ts";
import { organizationsReference } from "../resources/organizations/organizations.openapi.ts";
import { participantsReference } from "../resources/participants/participants.openapi.ts";
import { rolesReference } from "../resources/roles/roles.openapi.ts";
import { soapNotesReference } from "../resources/soap_notes/soap_notes.openapi.ts";
import { tokenExchangeReference } from "../resources/token_exchange/token_exchange.openapi.ts";
import { transcriptsReference } from "../resources/transcripts/transcripts.openapi.ts";
import { usageReference } from "../resources/usage/usage.openapi.ts";
import { visitsReference } from "../resources/visits/visits.openapi.ts";
import { waitingRoomSubsReference } from "../resources/waiting_room_subs/waiting_room_subs.openapi.ts";
import { waitingRoomsReference } from "../resources/waiting_rooms/waiting_rooms.openapi.ts";
import { webhookDeliveriesReference } from "../resources/webhook_deliveries/webhook_deliveries.openapi.ts";
import { webhookEndpointsReference } from "../resources/webhook_endpoints/webhook_endpoints.openapi.ts";

/**
 * First what an operator sets up through the platform API; then a visit from the waiting room to its results, the people, who
 * saw what, and what happens.
 */
export const references: Reference[] = [
  organizationsReference,
  apiClientsReference,
  issuersReference,
  usageReference,
  tokenExchangeReference,
  authorizationCodesReference,
  waitingRoomsReference,
  waitingRoomSubsReference,
  visitsReference,
  participantsReference,
  callsReference,
  callMetricsReference,
  transcriptsReference,
  soapNotesReference,
  callTextVersionsReference,
  egressesReference,
  egressAuditLogsReference,
  consentsReference,
  legalHoldsReference,
  invitesReference,
  bulkInvitesReference,
  rolesReference,
  organizationUsersReference,
  accessLogsReference,
  accessLogSealsReference,
  eventsReference,
  webhookEndpointsReference,
  webhookDeliveriesReference,
  liveKitReference,
];
