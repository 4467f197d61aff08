import { Hono } from "hono";
import { requestId } from "hono/request-id";
import { secureHeaders } from "hono/secure-headers";
import { apiClientsPlatform } from "./api_clients/api_clients.platform.ts";
import { externalDoor, externalRoutes } from "./doors/external.ts";
import { platformDoor, platformRoutes } from "./doors/platform.ts";
import { handleError } from "./http/errors.ts";
import { organizationUsersExternal } from "./organization_users/organization_users.external.ts";
import { organizationUsersPlatform } from "./organization_users/organization_users.platform.ts";
import { organizationsPlatform } from "./organizations/organizations.platform.ts";
import { participantsPlatform } from "./participants/participants.platform.ts";
import { waitingRoomSubsExternal } from "./waiting_room_subs/waiting_room_subs.external.ts";
import { waitingRoomsExternal } from "./waiting_rooms/waiting_rooms.external.ts";
import { waitingRoomsPlatform } from "./waiting_rooms/waiting_rooms.platform.ts";

const external = externalRoutes()
  .use(externalDoor)
  .route("/", organizationUsersExternal)
  .route("/", waitingRoomsExternal)
  .route("/", waitingRoomSubsExternal);

const platform = platformRoutes()
  .use(platformDoor)
  .route("/", organizationsPlatform)
  .route("/", organizationUsersPlatform)
  .route("/", apiClientsPlatform)
  .route("/", waitingRoomsPlatform)
  .route("/", participantsPlatform);

export const app = new Hono<{ Bindings: Env }>();

// A caller's own request id is not taken over: it goes to the log, and could hold anything.
app.use(requestId({ headerName: "" }));
app.use(secureHeaders({ contentSecurityPolicy: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } }));
app.use(async (c, next) => {
  await next();
  c.header("X-Request-Id", c.var.requestId);
  c.header("Cache-Control", "no-store");
});
app.route("/api/external", external);
app.route("/api/platform", platform);
app.notFound((c) => c.json({ error: "Not found" }, 404));
app.onError(handleError);
