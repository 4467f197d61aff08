import { recordedRead } from "../../http/acting_user.ts";
import { externalRoutes } from "../../http/hono.ts";
import { area } from "../../http/scopes.ts";
import { params } from "../../http/validation.ts";
import { recordedListOfCall } from "../calls/calls.entries.ts";
import { callParams } from "../calls/calls.schemas.ts";
import { toConsents } from "./consents.schemas.ts";
import { consentsOfPath } from "./consents.sql.ts";

const listConsents = recordedListOfCall("consent", consentsOfPath);

export const consentsExternal = externalRoutes().get(
  "/organization_users/:organization_user_id/calls/:call_id/consents",
  area("calls"),
  params(callParams),
  recordedRead,
  async (c) => c.json({ consents: toConsents(await listConsents(c.var.context, c.req.valid("param"))) }),
);
