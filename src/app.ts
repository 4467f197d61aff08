import { requestId } from "hono/request-id";
import { secureHeaders } from "hono/secure-headers";
import { accessLogSealsExternal, wellKnown } from "./audit/access_log_seals/access_log_seals.routes.ts";
import { accessLogsExternal } from "./audit/access_logs/access_logs.external.ts";
import { callMetricsExternal } from "./calls/call_metrics/call_metrics.external.ts";
import { callsExternal, callsPlatform } from "./calls/calls/calls.routes.ts";
import { consentsExternal } from "./calls/consents/consents.external.ts";
import { legalHoldsExternal, legalHoldsPlatform } from "./calls/legal_holds/legal_holds.routes.ts";
import { participantsExternal, participantsPlatform } from "./calls/participants/participants.routes.ts";
import { eventsExternal, eventsPlatform } from "./delivery/events/events.routes.ts";
import { webhookDeliveriesExternal } from "./delivery/webhook_deliveries/webhook_deliveries.external.ts";
import { nudgeDeliveries } from "./delivery/webhook_deliveries/webhook_deliveries.queue.ts";
import { webhookEndpointsExternal } from "./delivery/webhook_endpoints/webhook_endpoints.external.ts";
import { callRecordsExternal } from "./handover/call_records/call_records.external.ts";
import { participantExportsExternal } from "./handover/participant_exports/participant_exports.external.ts";
import { releasingBody } from "./http/body.ts";
import { handleError } from "./http/errors.ts";
import { health } from "./http/health.ts";
import { externalRoutes, newHono } from "./http/hono.ts";
import { httpsOnly } from "./http/https.ts";
import { logRequest } from "./http/log.ts";
import { inOrganizationOfPath, inOrganizationOfSlug } from "./http/organization.ts";
import { platformApi, platformRoutes } from "./http/platform_api.ts";
import { requireRoute, unrouted } from "./http/unrouted.ts";
import { authorizationCodesPlatform } from "./joining/authorization_codes/authorization_codes.platform.ts";
import { bulkInvitesExternal } from "./joining/bulk_invites/bulk_invites.external.ts";
import { invitesExternal, invitesPlatform } from "./joining/invites/invites.routes.ts";
import {
  organizationUsersExternal,
  organizationUsersPlatform,
} from "./joining/organization_users/organization_users.routes.ts";
import { tokenExchangeExternal } from "./joining/token_exchange/token_exchange.routes.ts";
import { liveKitApi, liveKitRoutes } from "./livekit/livekit_api.ts";
import { stopsPlatform } from "./livekit/stops.ts";
import { liveKitWebhook } from "./livekit/webhook.ts";
import { externalApi } from "./organization/api_clients/api_clients.authentication.ts";
import { apiClientsExternal, apiClientsPlatform } from "./organization/api_clients/api_clients.routes.ts";
import { issuersPlatform } from "./organization/issuers/issuers.platform.ts";
import {
  organizationsExternal,
  organizationsPlatform,
} from "./organization/organizations/organizations.routes.ts";
import { rolesExternal } from "./organization/roles/roles.external.ts";
import { quotaOr } from "./organization/usage/usage.refusals.ts";
import { usageExternal, usagePlatform } from "./organization/usage/usage.routes.ts";
import { callTextVersionsExternal } from "./results/call_text_versions/call_text_versions.external.ts";
import { egressAuditLogsExternal } from "./results/egress_audit_logs/egress_audit_logs.external.ts";
import { egressesExternal, egressesPlatform } from "./results/egresses/egresses.routes.ts";
import { erasuresExternal } from "./results/erasures/erasures.external.ts";
import { soapNotesExternal, soapNotesPlatform } from "./results/soap_notes/soap_notes.routes.ts";
import { transcriptsExternal, transcriptsPlatform } from "./results/transcripts/transcripts.routes.ts";
import { visitsExternal, visitsPlatform } from "./rooms/visits/visits.routes.ts";
import { waitingRoomSubsExternal } from "./rooms/waiting_room_subs/waiting_room_subs.external.ts";
import { waitingRoomsExternal, waitingRoomsPlatform } from "./rooms/waiting_rooms/waiting_rooms.routes.ts";
import { readSettings, requireOwnSecrets } from "./settings.ts";

export const app = newHono<{ Bindings: Env }>();

const onlyRoutes = requireRoute(app);

const external = externalRoutes()
  .use(externalApi)
  .use(onlyRoutes)
  .route("/", organizationsExternal)
  .route("/", organizationUsersExternal)
  .route("/", apiClientsExternal)
  .route("/", usageExternal)
  .route("/", waitingRoomsExternal)
  .route("/", waitingRoomSubsExternal)
  .route("/", callsExternal)
  .route("/", callRecordsExternal)
  .route("/", legalHoldsExternal)
  .route("/", participantsExternal)
  .route("/", consentsExternal)
  .route("/", callMetricsExternal)
  .route("/", visitsExternal)
  .route("/", transcriptsExternal)
  .route("/", soapNotesExternal)
  .route("/", callTextVersionsExternal)
  .route("/", egressesExternal)
  .route("/", egressAuditLogsExternal)
  .route("/", erasuresExternal)
  .route("/", participantExportsExternal)
  .route("/", tokenExchangeExternal)
  .route("/", rolesExternal)
  .route("/", bulkInvitesExternal)
  .route("/", invitesExternal)
  .route("/", accessLogSealsExternal)
  .route("/", eventsExternal)
  .route("/", accessLogsExternal)
  .route("/", webhookEndpointsExternal)
  .route("/", webhookDeliveriesExternal);

const platform = platformRoutes()
  .use(platformApi)
  .use(onlyRoutes)
  .use("/organizations/:organization_id/*", inOrganizationOfPath)
  .use("/waiting_rooms/:slug/*", inOrganizationOfSlug)
  .route("/", organizationsPlatform)
  .route("/", organizationUsersPlatform)
  .route("/", apiClientsPlatform)
  .route("/", waitingRoomsPlatform)
  .route("/", participantsPlatform)
  .route("/", stopsPlatform)
  .route("/", callsPlatform)
  .route("/", legalHoldsPlatform)
  .route("/", transcriptsPlatform)
  .route("/", soapNotesPlatform)
  .route("/", egressesPlatform)
  .route("/", issuersPlatform)
  .route("/", authorizationCodesPlatform)
  .route("/", invitesPlatform)
  .route("/", visitsPlatform)
  .route("/", eventsPlatform)
  .route("/", usagePlatform);

const livekit = liveKitRoutes().use(liveKitApi).route("/", liveKitWebhook);

// Ignores the caller's request id: the id is logged, and a caller's could contain anything.
app.use(requestId({ headerName: "" }));
app.use(secureHeaders({ contentSecurityPolicy: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } }));
app.use(async (c, next) => {
  await next();
  c.header("X-Request-Id", c.var.requestId);
  if (!c.res.headers.has("Cache-Control")) c.header("Cache-Control", "no-store");
});
app.use(logRequest);
app.route("/health", health);
app.use("/api/*", httpsOnly);
app.use("/.well-known/*", httpsOnly);
app.route("/.well-known", wellKnown);
app.use("/api/*", (c, next) => {
  requireOwnSecrets(readSettings(c.env), c.req.url);
  return next();
});
app.use("/api/*", releasingBody);
// The queue does not know yet about the events of this write.
app.use("/api/*", async (c, next) => {
  await next();
  if (c.req.method !== "GET" && c.res.ok) c.executionCtx.waitUntil(nudgeDeliveries(c.env.WEBHOOKS));
});
app.route("/api/external", external);
app.route("/api/platform", platform);
app.route("/api/livekit", livekit);
app.notFound((c) => handleError(unrouted(app, c.req.path), c));
app.onError((error, c) => handleError(quotaOr(error), c));
