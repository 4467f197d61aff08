import { accessLogSealsReference } from "../audit/access_log_seals/access_log_seals.openapi.ts";
import { accessLogsReference } from "../audit/access_logs/access_logs.openapi.ts";
import { callMetricsReference } from "../calls/call_metrics/call_metrics.openapi.ts";
import { consentsReference } from "../calls/consents/consents.openapi.ts";
import { legalHoldsReference } from "../calls/legal_holds/legal_holds.openapi.ts";
import { participantsReference } from "../calls/participants/participants.openapi.ts";
import { eventsReference } from "../delivery/events/events.openapi.ts";
import { webhookDeliveriesReference } from "../delivery/webhook_deliveries/webhook_deliveries.openapi.ts";
import { webhookEndpointsReference } from "../delivery/webhook_endpoints/webhook_endpoints.openapi.ts";
import { callsAndFormsReference } from "../handover/call_records/call_records.openapi.ts";
import { participantExportsReference } from "../handover/participant_exports/participant_exports.openapi.ts";
import { authorizationCodesReference } from "../joining/authorization_codes/authorization_codes.openapi.ts";
import { bulkInvitesReference } from "../joining/bulk_invites/bulk_invites.openapi.ts";
import { invitesReference } from "../joining/invites/invites.openapi.ts";
import { organizationUsersReference } from "../joining/organization_users/organization_users.openapi.ts";
import { tokenExchangeReference } from "../joining/token_exchange/token_exchange.openapi.ts";
import { liveKitReference } from "../livekit/livekit.openapi.ts";
import type { Operation, Reference } from "../openapi/operation.ts";
import { apiClientsReference } from "../organization/api_clients/api_clients.openapi.ts";
import { issuersReference } from "../organization/issuers/issuers.openapi.ts";
import { organizationsReference } from "../organization/organizations/organizations.openapi.ts";
import { rolesReference } from "../organization/roles/roles.openapi.ts";
import { usageReference } from "../organization/usage/usage.openapi.ts";
import { callTextVersionsReference } from "../results/call_text_versions/call_text_versions.openapi.ts";
import { egressAuditLogsReference } from "../results/egress_audit_logs/egress_audit_logs.openapi.ts";
import { egressesReference } from "../results/egresses/egresses.openapi.ts";
import { erasuresReference } from "../results/erasures/erasures.openapi.ts";
import { soapNotesReference } from "../results/soap_notes/soap_notes.openapi.ts";
import { transcriptsReference } from "../results/transcripts/transcripts.openapi.ts";
import { visitsReference } from "../rooms/visits/visits.openapi.ts";
import { waitingRoomSubsReference } from "../rooms/waiting_room_subs/waiting_room_subs.openapi.ts";
import { waitingRoomsReference } from "../rooms/waiting_rooms/waiting_rooms.openapi.ts";
import type { Api } from "./apis.ts";

/** The references of all resources, by the group of the navigation that shows them. */
export const GROUPED_REFERENCES = {
  Start: [organizationsReference, apiClientsReference, issuersReference, usageReference],
  People: [
    tokenExchangeReference,
    authorizationCodesReference,
    invitesReference,
    bulkInvitesReference,
    rolesReference,
    organizationUsersReference,
  ],
  "Rooms and visits": [
    waitingRoomsReference,
    waitingRoomSubsReference,
    visitsReference,
    participantsReference,
    callsAndFormsReference,
    callMetricsReference,
  ],
  Results: [
    transcriptsReference,
    soapNotesReference,
    callTextVersionsReference,
    egressesReference,
    egressAuditLogsReference,
    consentsReference,
    legalHoldsReference,
    erasuresReference,
    participantExportsReference,
  ],
  Follow: [eventsReference, webhookEndpointsReference, webhookDeliveriesReference, liveKitReference],
  Audit: [accessLogsReference, accessLogSealsReference],
} satisfies Record<string, Reference[]>;

export type Group = keyof typeof GROUPED_REFERENCES;

/** The groups of the navigation, in their order. */
export const GROUPS = Object.keys(GROUPED_REFERENCES) as Group[];

export const references: Reference[] = Object.values(GROUPED_REFERENCES).flat();

/** The operations of an API by their routes, in the order of the references. */
export const operationsOf = (api: Api): [route: string, operation: Operation][] =>
  references.flatMap(({ [api]: operations = {} }) => Object.entries(operations));
