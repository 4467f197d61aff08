import { recordedReadIf } from "../../http/acting_user.ts";
import { externalRoutes } from "../../http/hono.ts";
import { platformRoutes } from "../../http/platform_api.ts";
import { openTo } from "../../http/platform_tokens.ts";
import { readsFrom } from "../../http/replication.ts";
import { area } from "../../http/scopes.ts";
import { jsonBody, params, query } from "../../http/validation.ts";
import { reportCall, requireReportedCall } from "./calls.reports.ts";
import * as schemas from "./calls.schemas.ts";
import { findCalls, listCalls, updateCall } from "./calls.service.ts";

/** A search by a participant's reference is recorded, because it reveals with whom a person had visits. */
const recordedSearch = recordedReadIf(({ req }) =>
  // If the parameter is repeated, any value that is not empty counts.
  req.queries("participant_reference")?.some(Boolean),
);

export const ONE_CALL = "/organization_users/:organization_user_id/calls/:call_id";

export const callsExternal = externalRoutes()
  // These routes read the primary, because the number of recordings depends on consent.
  .get(
    "/calls",
    area("calls"),
    readsFrom("primary"),
    recordedSearch,
    query(schemas.callsQuery),
    async (c) => {
      const { calls, next_after } = await findCalls(c.var.context, c.req.valid("query"));
      return c.json({ calls: calls.map(schemas.toCall), next_after });
    },
  )
  .get(
    "/organization_users/:organization_user_id/calls",
    area("calls"),
    readsFrom("primary"),
    params(schemas.organizationUserParams),
    query(schemas.callsOfOwnerQuery),
    async (c) => {
      const { organization_user_id } = c.req.valid("param");
      const listed = c.req.valid("query");
      const { calls, next_after } = await listCalls(c.var.context, organization_user_id, listed);
      return c.json({ calls: calls.map(schemas.toCall), next_after });
    },
  )
  // GET is in handover/call_records, as it also answers in the standard forms.
  .put(ONE_CALL, area("calls"), params(schemas.callParams), jsonBody(schemas.updateCallBody), async (c) => {
    const call = await updateCall(c.var.context, c.req.valid("param"), c.req.valid("json").call);
    return c.json(schemas.toCallDetails(call));
  });

const REPORTED_CALL = "/organizations/:organization_id/calls/:key";

const byKey = params(schemas.callKeyParams);

export const callsPlatform = platformRoutes()
  .get(REPORTED_CALL, openTo("PLATFORM_REPORTS_TOKEN"), byKey, async (c) =>
    c.json(schemas.toReportedCall(await requireReportedCall(c.var.context, c.req.valid("param")))),
  )
  .put(
    REPORTED_CALL,
    openTo("PLATFORM_REPORTS_TOKEN"),
    byKey,
    jsonBody(schemas.reportCallBody),
    async (c) => {
      const { call, reported_at } = c.req.valid("json");
      const reported = await reportCall(c.var.context, c.req.valid("param"), { ...call, reported_at });
      return c.json(schemas.toReportedCall(reported));
    },
  );
