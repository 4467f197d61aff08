import { and, desc, eq, type SQL, sql } from "drizzle-orm";
import type * as z from "zod";
import type { Caller, ClientContext, Context } from "../../context.ts";
import { insertFrom } from "../../database/legacy_insert.ts";
import { type Rule, writeUnderRules } from "../../database/legacy_rules.ts";
import { selectTotal } from "../../database/legacy_totals.ts";
import { conditionsOn, given, inputOf, kept } from "../../database/report.ts";
import { calls, organizationUsers } from "../../database/schema.ts";
import { totalOf } from "../../database/totals.ts";
import { takeOverChanges } from "../../database/upsert.ts";
import { notFound, unprocessable } from "../../http/errors.ts";
import { type Page, type PageQuery, pageWindow, toPage } from "../../http/pagination.ts";
import { withinReach } from "../organization_users/organization_users.service.ts";
import { participantsOfCall } from "../participants/participants.service.ts";
import type { Call, CallPath, reportCallBody } from "./calls.schemas.ts";

/** The calls of an organization user whom the caller reaches, newest first. */
export async function listCalls(
  { db, caller }: ClientContext,
  organization_user_id: number,
  page: PageQuery,
): Promise<Page<Call>> {
  const owner = sql`(
    select ${organizationUsers.id} from ${organizationUsers}
    where ${organizationUsers.id} = ${organization_user_id} and ${withinReach(caller)})`;
  const ofOwner = eq(calls.organization_user_id, owner);
  const { limit, offset } = pageWindow(page);
  const [owners, [counted], rows] = await db.batch([
    db.select({ id: sql<number | null>`${owner}`.as("id") }).from(sql`(select 1)`),
    selectTotal(db, totalOf("calls", owner)),
    db
      .select()
      .from(calls)
      .where(ofOwner)
      .orderBy(desc(calls.started_at), desc(calls.id))
      .limit(limit)
      .offset(offset),
  ]);
  if (!owners[0]?.id) throw notFound("Organization user");
  return toPage(page, counted?.total ?? 0, rows);
}

/** SQL that is true for the call of the path, where the caller reaches the organization user that it names. */
export function callWithinReach(
  caller: Caller,
  { organization_user_id, call_id }: CallPath,
): SQL | undefined {
  return and(
    eq(calls.id, call_id),
    eq(calls.organization_id, caller.organization_id),
    eq(calls.organization_user_id, organization_user_id),
    sql`exists (
      select 1 from ${organizationUsers}
      where ${organizationUsers.id} = ${organization_user_id} and ${withinReach(caller)})`,
  );
}

/** For verbs whose path names a call by the reporter's key. */
export const callMissing = (key: string): Rule => ({
  broken: sql`not exists (select 1 from calls where key = ${key})`,
  error: notFound("Call"),
});

/**
 * Records what is known of a call. The key is the reporter's own; the first report fixes the room, and with it the
 * organization. An ended call stays ended. When it ends, whoever is still there has left.
 */
export async function reportCall(
  { db, now }: Context,
  key: string,
  input: z.output<typeof reportCallBody>["call"],
): Promise<Call> {
  const json = sql`input.report`;
  const report = sql`(
    select coalesce(known.organization_id, room.organization_id) as organization_id,
      coalesce(known.waiting_room_id, room.id) as waiting_room_id,
      known.id as call_id,
      ${kept(json, "organization_user_id")} as organization_user_id,
      ${kept(json, "started_at")} as started_at,
      coalesce(${given(json, "ended_at")}, known.ended_at) as ended_at,
      coalesce(${kept(json, "failed")}, false) as failed,
      ${json} ->> 'participants' as participants
    from ${inputOf(input)}
    left join calls known on known.key = ${key}
    left join waiting_rooms room on room.slug = ${given(json, "waiting_room_slug")} and room.retired_at is null)`;
  const reported = conditionsOn(report);
  const callId = sql<number>`(select id from calls where key = ${key})`;
  const participants = participantsOfCall({ db, now }, report, callId);

  const rules: Rule[] = [
    {
      broken: reported(sql`organization_id is null`),
      error: unprocessable("call.waiting_room_slug: must name a waiting room, in the first report"),
    },
    {
      broken: reported(sql`organization_user_id is null or started_at is null`),
      error: unprocessable("call: organization_user_id and started_at are required in the first report"),
    },
    {
      broken: reported(sql`not exists (
        select 1 from organization_users member
        where member.organization_id = report.organization_id and member.id = report.organization_user_id)`),
      error: unprocessable(
        "call.organization_user_id: is not a user of the call's organization; a key that another organization uses cannot be used again",
      ),
    },
    {
      broken: reported(sql`ended_at < started_at`),
      error: unprocessable("call.ended_at: must not be before started_at"),
    },
    ...participants.rules,
  ];
  return writeUnderRules(db, rules, [
    insertFrom(
      db,
      calls,
      sql`from ${report} where true`,
      ["organization_id", "organization_user_id", "waiting_room_id", "started_at", "ended_at", "failed"],
      { key, created_at: now, updated_at: now },
    ).onConflictDoUpdate(
      takeOverChanges(calls, [calls.key], ["organization_user_id", "started_at", "ended_at", "failed"]),
    ),
    ...participants.statements,
    db.select().from(calls).where(eq(calls.key, key)),
  ]);
}
