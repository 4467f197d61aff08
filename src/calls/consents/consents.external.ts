import { recordedRead } from "../../http/acting_user.ts";
import { externalRoutes } from "../../http/hono.ts";
import { area } from "../../http/scopes.ts";
import { params } from "../../http/validation.ts";
import { callParams } from "../calls/calls.schemas.ts";
import { toConsents } from "./consents.schemas.ts";
import { listConsents } from "./consents.service.ts";

export const consentsExternal = externalRoutes().get(
  "/organization_users/:organization_user_id/calls/:call_id/consents",
  area("calls"),
  params(callParams),
  recordedRead,
  async (c) => c.json({ consents: toConsents(await listConsents(c.var.context, c.req.valid("param"))) }),
);
