import { requestId } from "hono/request-id";
import { secureHeaders } from "hono/secure-headers";
import { handleError, noSuchPath } from "./http/errors.ts";
import { externalApi, externalRoutes } from "./http/external_api.ts";
import { health } from "./http/health.ts";
import { newHono } from "./http/hono.ts";
import { httpsOnly } from "./http/https.ts";
import { logRequest } from "./http/log.ts";
import { inOrganizationOfPath, inOrganizationOfSlug } from "./http/organization.ts";
import { platformApi, platformRoutes } from "./http/platform_api.ts";
import { wellKnown } from "./http/well_known.ts";
import { liveKitApi, liveKitRoutes } from "./livekit/livekit_api.ts";
import { liveKitWebhook } from "./livekit/webhook.ts";
import { accessLogSealsExternal } from "./resources/access_log_seals/access_log_seals.external.ts";
import { accessLogsExternal } from "./resources/access_logs/access_logs.external.ts";
import { apiClientsExternal } from "./resources/api_clients/api_clients.external.ts";
import { apiClientsPlatform } from "./resources/api_clients/api_clients.platform.ts";
import { authorizationCodesPlatform } from "./resources/authorization_codes/authorization_codes.platform.ts";
import { bulkInvitesExternal } from "./resources/bulk_invites/bulk_invites.external.ts";
import { callMetricsExternal } from "./resources/call_metrics/call_metrics.external.ts";
import { callTextVersionsExternal } from "./resources/call_text_versions/call_text_versions.external.ts";
import { callsExternal } from "./resources/calls/calls.external.ts";
import { callsPlatform } from "./resources/calls/calls.platform.ts";
import { consentsExternal } from "./resources/consents/consents.external.ts";
import { egressAuditLogsExternal } from "./resources/egress_audit_logs/egress_audit_logs.external.ts";
import { egressesExternal } from "./resources/egresses/egresses.external.ts";
import { egressesPlatform } from "./resources/egresses/egresses.platform.ts";
import { eventsExternal } from "./resources/events/events.external.ts";
import { invitesExternal } from "./resources/invites/invites.external.ts";
import { invitesPlatform } from "./resources/invites/invites.platform.ts";
import { issuersPlatform } from "./resources/issuers/issuers.platform.ts";
import { legalHoldsExternal } from "./resources/legal_holds/legal_holds.external.ts";
import { legalHoldsPlatform } from "./resources/legal_holds/legal_holds.platform.ts";
import { organizationUsersExternal } from "./resources/organization_users/organization_users.external.ts";
import { organizationUsersPlatform } from "./resources/organization_users/organization_users.platform.ts";
import { organizationsExternal } from "./resources/organizations/organizations.external.ts";
import { organizationsPlatform } from "./resources/organizations/organizations.platform.ts";
import { participantsExternal } from "./resources/participants/participants.external.ts";
import { participantsPlatform } from "./resources/participants/participants.platform.ts";
import { rolesExternal } from "./resources/roles/roles.external.ts";
import { soapNotesExternal } from "./resources/soap_notes/soap_notes.external.ts";
import { soapNotesPlatform } from "./resources/soap_notes/soap_notes.platform.ts";
import { tokenExchangeExternal } from "./resources/token_exchange/token_exchange.external.ts";
import { transcriptsExternal } from "./resources/transcripts/transcripts.external.ts";
import { transcriptsPlatform } from "./resources/transcripts/transcripts.platform.ts";
import { usagePlatform } from "./resources/usage/usage.platform.ts";
import { quotaOr } from "./resources/usage/usage.refusals.ts";
import { visitsExternal } from "./resources/visits/visits.external.ts";
import { visitsPlatform } from "./resources/visits/visits.platform.ts";
import { waitingRoomSubsExternal } from "./resources/waiting_room_subs/waiting_room_subs.external.ts";
import { waitingRoomsExternal } from "./resources/waiting_rooms/waiting_rooms.external.ts";
import { waitingRoomsPlatform } from "./resources/waiting_rooms/waiting_rooms.platform.ts";
import { webhookDeliveriesExternal } from "./resources/webhook_deliveries/webhook_deliveries.external.ts";
import { webhookEndpointsExternal } from "./resources/webhook_endpoints/webhook_endpoints.external.ts";
import { nudgeDeliveries } from "./resources/webhook_lanes/webhook_lanes.queue.ts";
import { readSettings, requireOwnSecrets } from "./settings.ts";

const external = externalRoutes()
  .use(externalApi)
  .route("/", organizationsExternal)
  .route("/", organizationUsersExternal)
  .route("/", apiClientsExternal)
  .route("/", waitingRoomsExternal)
  .route("/", waitingRoomSubsExternal)
  .route("/", callsExternal)
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
  .use("/organizations/:organization_id/*", inOrganizationOfPath)
  .use("/waiting_rooms/:slug/*", inOrganizationOfSlug)
  .route("/", organizationsPlatform)
  .route("/", organizationUsersPlatform)
  .route("/", apiClientsPlatform)
  .route("/", waitingRoomsPlatform)
  .route("/", participantsPlatform)
  .route("/", callsPlatform)
  .route("/", legalHoldsPlatform)
  .route("/", transcriptsPlatform)
  .route("/", soapNotesPlatform)
  .route("/", egressesPlatform)
  .route("/", issuersPlatform)
  .route("/", authorizationCodesPlatform)
  .route("/", invitesPlatform)
  .route("/", visitsPlatform)
  .route("/", usagePlatform);

const livekit = liveKitRoutes().use(liveKitApi).route("/", liveKitWebhook);

export const app = newHono<{ Bindings: Env }>();

// A request id that the caller sends is not used: the id goes to the log, and theirs could contain anything.
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
// What a request wrote may have events, which the queue does not know of.
app.use("/api/*", async (c, next) => {
  await next();
  if (c.req.method !== "GET" && c.res.ok) c.executionCtx.waitUntil(nudgeDeliveries(c.env.WEBHOOKS));
});
app.route("/api/external", external);
app.route("/api/platform", platform);
app.route("/api/livekit", livekit);
app.notFound((c) => handleError(noSuchPath(), c));
app.onError((error, c) => handleError(quotaOr(error), c));
