import { and, asc, eq, type SQL, sql } from "drizzle-orm";
import type * as z from "zod";
import type { Caller, ClientContext, Context } from "../../context.ts";
import { insertFrom } from "../../database/legacy_insert.ts";
import { writeUnderRules } from "../../database/legacy_rules.ts";
import { conditionsOn, given, inputOf, kept } from "../../database/report.ts";
import { calls, egressAuditLogs, egresses } from "../../database/schema.ts";
import { takeOverChanges } from "../../database/upsert.ts";
import { notFound, unprocessable } from "../../http/errors.ts";
import type { CallPath } from "../calls/calls.schemas.ts";
import { callWithinReach } from "../calls/legacy.ts";
import { namesNoMember } from "../organization_users/organization_users.service.ts";
import { presignDownload } from "./egresses.download.ts";
import type { Egress, reportEgressBody } from "./egresses.schemas.ts";

/** The recordings of an ended call to which everybody on it consented; none otherwise. */
export async function listEgresses({ db, caller }: ClientContext, path: CallPath): Promise<Egress[]> {
  const [found, rows] = await db.batch([
    db.select({ id: calls.id }).from(calls).where(callWithinReach(caller, path)),
    db
      .select()
      .from(egresses)
      .where(eq(egresses.call_id, openCall(caller, path)))
      .orderBy(asc(egresses.id)),
  ]);
  if (found.length === 0) throw notFound("Call");
  return rows;
}

/**
 * One recording, with a download URL, and the audit entry of its being read: both are one transaction, and without
 * the entry there is no URL (contract, section "Egresses", rule 3).
 */
export async function readEgress(
  context: ClientContext,
  path: CallPath,
  id: number,
): Promise<Egress & { url: string | null }> {
  const { db, now, caller } = context;
  const [[egress], entries] = await db.batch([
    db
      .select()
      .from(egresses)
      .where(egressWithinReach(caller, path, id)),
    insertFrom(
      db,
      egressAuditLogs,
      sql`from ${egresses} where ${egressWithinReach(caller, path, id)}`,
      ["organization_id"],
      { egress_id: egresses.id, event: "read", user_id: caller.user_id, created_at: now },
    ).returning({ id: egressAuditLogs.id }),
  ]);
  if (!egress) throw notFound("Egress");
  if (entries.length !== 1) throw new Error("The read of an egress left no audit entry");
  return {
    ...egress,
    url: egress.storage_key === null ? null : await presignDownload(context, egress.storage_key),
  };
}

/** SQL that is true for the egress of the path, where the call is within reach and its recordings may be seen. */
export function egressWithinReach(caller: Caller, path: CallPath, id: number): SQL | undefined {
  return and(eq(egresses.id, id), eq(egresses.call_id, openCall(caller, path)));
}

/** SQL for the id of the call of the path, if it has ended and each of its participants, one at least, consented. */
function openCall(caller: Caller, path: CallPath): SQL<number> {
  return sql`(
    select ${calls.id} from ${calls}
    where ${callWithinReach(caller, path)} and ${calls.ended_at} is not null
      and exists (select 1 from participants where participants.call_id = ${calls.id})
      and not exists (
        select 1 from participants
        where participants.call_id = ${calls.id} and participants.recording_consent is not true))`;
}

/** What a report can change of an egress. */
const STATE = ["status", "error", "is_stopped", "ended_at", "storage_key"] as const;

/**
 * Records what is known of a recording. An ended one stays ended. Triggers write the audit entry of the creation,
 * or of what changed.
 */
export async function reportEgress(
  { db, now }: Context,
  egress_id: string,
  input: z.output<typeof reportEgressBody>["egress"],
): Promise<Egress> {
  // A report of the start that comes after the end tells nothing that is still so.
  const isLate = sql`known.status = 'egress_ended' and ${given(sql`input.report`, "status")} = 'egress_starting'`;
  const json = sql`iif(${isLate}, json_object('call_key', ${given(sql`input.report`, "call_key")}), input.report)`;
  const wasEnded = sql`coalesce(known.status = 'egress_ended', false)`;
  const report = sql`(
    select coalesce(known.organization_id, call.organization_id) as organization_id,
      coalesce(known.call_id, call.id) as call_id, call.id as named_call_id,
      ${kept(json, "status")} as status,
      ${kept(json, "error")} as error,
      coalesce(iif(known.is_stopped, true, ${kept(json, "is_stopped")}), false) as is_stopped,
      iif(${wasEnded}, coalesce(${given(json, "ended_at")}, known.ended_at), ${kept(json, "ended_at")}) as ended_at,
      ${kept(json, "storage_key")} as storage_key,
      ${given(json, "user_id")} as user_id,
      ${given(json, "call_key")} as call_key
    from ${inputOf(input)}
    left join egresses known on known.egress_id = ${egress_id}
    left join calls call on call.key = ${given(json, "call_key")})`;
  const reported = conditionsOn(report);

  return writeUnderRules(
    db,
    [
      {
        broken: reported(sql`call_id is null or (call_key is not null and named_call_id is null)`),
        error: unprocessable("egress.call_key: must name a call, in the first report"),
      },
      {
        broken: reported(sql`call_id <> named_call_id`),
        error: unprocessable("egress.call_key: the egress belongs to another call"),
      },
      {
        broken: reported(sql`status is null`),
        error: unprocessable("egress.status: is required in the first report"),
      },
      {
        broken: reported(namesNoMember),
        error: unprocessable("egress.user_id: is not a user of the organization"),
      },
    ],
    [
      insertFrom(db, egresses, sql`from ${report} where true`, ["organization_id", "call_id", ...STATE], {
        egress_id,
        changed_by_user_id: sql`user_id`,
        created_at: now,
        updated_at: now,
      }).onConflictDoUpdate(
        takeOverChanges(egresses, [egresses.egress_id], [...STATE], ["changed_by_user_id"]),
      ),
      db.select().from(egresses).where(eq(egresses.egress_id, egress_id)),
    ],
  );
}
