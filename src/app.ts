import { Hono } from "hono";
import { requestId } from "hono/request-id";
import { secureHeaders } from "hono/secure-headers";
import { apiClientsPlatform } from "./api_clients/api_clients.platform.ts";
import { authorizationCodesPlatform } from "./authorization_codes/authorization_codes.platform.ts";
import { bulkInvitesExternal } from "./bulk_invites/bulk_invites.external.ts";
import { callMetricsExternal } from "./call_metrics/call_metrics.external.ts";
import { callsExternal } from "./calls/calls.external.ts";
import { callsPlatform } from "./calls/calls.platform.ts";
import { externalDoor, externalRoutes } from "./doors/external.ts";
import { platformDoor, platformRoutes } from "./doors/platform.ts";
import { egressAuditLogsExternal } from "./egress_audit_logs/egress_audit_logs.external.ts";
import { egressesExternal } from "./egresses/egresses.external.ts";
import { egressesPlatform } from "./egresses/egresses.platform.ts";
import { health } from "./health/health.ts";
import { handleError } from "./http/errors.ts";
import { logRequest } from "./http/log.ts";
import { invitesExternal } from "./invites/invites.external.ts";
import { invitesPlatform } from "./invites/invites.platform.ts";
import { issuersPlatform } from "./issuers/issuers.platform.ts";
import { organizationUsersExternal } from "./organization_users/organization_users.external.ts";
import { organizationUsersPlatform } from "./organization_users/organization_users.platform.ts";
import { organizationsPlatform } from "./organizations/organizations.platform.ts";
import { participantsPlatform } from "./participants/participants.platform.ts";
import { soapNotesExternal } from "./soap_notes/soap_notes.external.ts";
import { soapNotesPlatform } from "./soap_notes/soap_notes.platform.ts";
import { tokenExchangeExternal } from "./token_exchange/token_exchange.external.ts";
import { transcriptsExternal } from "./transcripts/transcripts.external.ts";
import { transcriptsPlatform } from "./transcripts/transcripts.platform.ts";
import { waitingRoomSubsExternal } from "./waiting_room_subs/waiting_room_subs.external.ts";
import { waitingRoomsExternal } from "./waiting_rooms/waiting_rooms.external.ts";
import { waitingRoomsPlatform } from "./waiting_rooms/waiting_rooms.platform.ts";

const external = externalRoutes()
  .use(externalDoor)
  .route("/", organizationUsersExternal)
  .route("/", waitingRoomsExternal)
  .route("/", waitingRoomSubsExternal)
  .route("/", callsExternal)
  .route("/", callMetricsExternal)
  .route("/", transcriptsExternal)
  .route("/", soapNotesExternal)
  .route("/", egressesExternal)
  .route("/", egressAuditLogsExternal)
  .route("/", tokenExchangeExternal)
  .route("/", bulkInvitesExternal)
  .route("/", invitesExternal);

const platform = platformRoutes()
  .use(platformDoor)
  .route("/", organizationsPlatform)
  .route("/", organizationUsersPlatform)
  .route("/", apiClientsPlatform)
  .route("/", waitingRoomsPlatform)
  .route("/", participantsPlatform)
  .route("/", callsPlatform)
  .route("/", transcriptsPlatform)
  .route("/", soapNotesPlatform)
  .route("/", egressesPlatform)
  .route("/", issuersPlatform)
  .route("/", authorizationCodesPlatform)
  .route("/", invitesPlatform);

export const app = new Hono<{ Bindings: Env }>();

// A caller's own request id is not taken over: it goes to the log, and could hold anything.
app.use(requestId({ headerName: "" }));
app.use(secureHeaders({ contentSecurityPolicy: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } }));
app.use(async (c, next) => {
  await next();
  c.header("X-Request-Id", c.var.requestId);
  c.header("Cache-Control", "no-store");
});
app.use(logRequest);
app.route("/health", health);
app.route("/api/external", external);
app.route("/api/platform", platform);
app.notFound((c) => c.json({ error: "Not found" }, 404));
app.onError(handleError);
