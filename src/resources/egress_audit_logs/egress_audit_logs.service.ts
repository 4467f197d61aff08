import { and, desc, eq, gte, lt, type SQL, sql } from "drizzle-orm";
import type * as z from "zod";
import type { ClientContext } from "../../context.ts";
import { AUDIT_EVENTS } from "../../database/enums.ts";
import { selectTotal } from "../../database/legacy_totals.ts";
import { egressAuditLogs, egresses } from "../../database/schema.ts";
import { totalOf } from "../../database/totals.ts";
import { notFound } from "../../http/errors.ts";
import { pageWindow, toPage } from "../../http/pagination.ts";
import { DAY } from "../../limits.ts";
import { egressWithinReach } from "../egresses/egresses.service.ts";
import type { auditLogParams, auditLogQuery } from "./egress_audit_logs.schemas.ts";

/** What happened to an egress, newest first; `from` and `to` are days, both included. */
export async function listAuditLogs(
  { db, caller }: ClientContext,
  { egress_id, ...call }: z.output<typeof auditLogParams>,
  { event, from, to, ...page }: z.output<typeof auditLogQuery>,
) {
  const egress: SQL<number> = sql`(
    select ${egresses.id} from ${egresses} where ${egressWithinReach(caller, call, egress_id)})`;
  const listed = and(
    eq(egressAuditLogs.egress_id, egress),
    event && eq(egressAuditLogs.event, event),
    from ? gte(egressAuditLogs.created_at, Date.parse(from)) : undefined,
    to ? lt(egressAuditLogs.created_at, Date.parse(to) + DAY) : undefined,
  );
  const { limit, offset } = pageWindow(page);
  const [found, [counted], rows] = await db.batch([
    db
      .select({ id: egresses.id })
      .from(egresses)
      .where(egressWithinReach(caller, call, egress_id)),
    selectTotal(
      db,
      from || to
        ? sql`(select count(*) from ${egressAuditLogs} where ${listed})`
        : sum((event ? [event] : AUDIT_EVENTS).map((each) => totalOf(`egress_audit_logs:${each}`, egress))),
    ),
    db
      .select()
      .from(egressAuditLogs)
      .where(listed)
      .orderBy(desc(egressAuditLogs.created_at), desc(egressAuditLogs.id))
      .limit(limit)
      .offset(offset),
  ]);
  if (found.length === 0) throw notFound("Egress");
  return toPage(page, counted?.total ?? 0, rows);
}

const sum = (totals: SQL<number>[]): SQL<number> => sql.join(totals, sql` + `) as SQL<number>;
