import { externalRoutes } from "../../http/hono.ts";
import { readsFrom } from "../../http/replication.ts";
import { area } from "../../http/scopes.ts";
import { params, query } from "../../http/validation.ts";
import { auditLogParams, auditLogQuery, toAuditLog } from "./egress_audit_logs.schemas.ts";
import { listAuditLogs } from "./egress_audit_logs.service.ts";

export const egressAuditLogsExternal = externalRoutes().get(
  "/organization_users/:organization_user_id/calls/:call_id/egresses/:egress_id/audit_logs",
  area("results"),
  readsFrom("primary"),
  params(auditLogParams),
  query(auditLogQuery),
  async (c) => {
    const path = c.req.valid("param");
    const { items, pagination } = await listAuditLogs(c.var.context, path, c.req.valid("query"));
    return c.json({ audit_logs: items.map(toAuditLog), pagination });
  },
);
