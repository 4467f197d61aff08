/** The floor's reads of what calls leave behind, by the shape of their path (see floor.ts). */
import { AwsClient } from "aws4fetch";
import type { FloorCaller, FloorHandler, FloorRequest } from "./floor.ts";
import * as shape from "./floor_shapes.ts";
import { all, paged, totalOf } from "./floor_statements.ts";
import { unpacked } from "./floor_transcripts.ts";

const DAY = 86_400_000;

const CALL = "id, organization_user_id, waiting_room_id, started_at, ended_at";

const EGRESS = "id, egress_id, status, error, is_stopped, ended_at, created_at, updated_at";

/** The organization user `?2` where the caller reaches it. */
function owner({ roles, organization_user_id }: FloorCaller): string {
  const own = "select id from organization_users where organization_id = ?1 and id = ?2";
  return roles.includes("organization_admin")
    ? own
    : `${own} and (id = ${organization_user_id} or id in (select provider_id from organization_user_assists
      where assistant_id = ${organization_user_id}))`;
}

/** The call `?3` of that organization user. */
const callOf = (caller: FloorCaller) =>
  `select id from calls where id = ?3 and organization_user_id = (${owner(caller)})`;

/** The same, where it has ended. */
const endedCall = (caller: FloorCaller) => `${callOf(caller)} and ended_at is not null`;

/** The same, where it has ended with everyone's consent. `min` over none is null, which is not 1. */
const openCall = (caller: FloorCaller) =>
  `${endedCall(caller)}
  and (select min(recording_consent is true) from participants where call_id = ?3) = 1`;

export const results: Record<string, FloorHandler> = {
  "GET 6 organization_users calls": (request) =>
    paged(request, "calls", shape.call, {
      total: `(select ${totalOf("calls", "o.id")} from (${owner(request.caller)}) o)`,
      columns: CALL,
      from: `from calls where organization_user_id = (${owner(request.caller)})
        order by started_at desc, id desc`,
      values: [request.caller.organization_id, Number(request.segments[4])],
    }),

  "GET 4 call_metrics": async (request) => {
    const day = (time: number) => new Date(time).toISOString().slice(0, 10);
    const start = request.url.searchParams.get("date_start") ?? day(request.now - 29 * DAY);
    const end = request.url.searchParams.get("date_end") ?? day(request.now);
    const found = await all(
      request,
      `select date, total_calls, failed_calls, completed_calls, duration_ms, waits, wait_ms from call_daily_metrics
      where organization_id = ?1 and organization_user_id = 0 and date between ?2 and ?3 and total_calls > 0
      order by date`,
      request.caller.organization_id,
      start,
      end,
    );
    return { body: shape.metrics(found) };
  },

  "GET 4 events": async (request) => {
    const { searchParams } = request.url;
    const [type, after] = [searchParams.get("type"), Number(searchParams.get("after") ?? 0)];
    const found = await all(
      request,
      `select id, type, created_at, data from events
      where organization_id = ?1 ${type ? "and type = ?4" : ""} and id > ?2 order by id limit ?3`,
      request.caller.organization_id,
      after,
      Math.min(Number(searchParams.get("per_page") ?? 25), 100),
      ...(type ? [type] : []),
    );
    return { body: { events: found.map(shape.event), next_after: found.at(-1)?.id ?? after } };
  },

  "GET 8 organization_users calls transcript": async (request) => {
    const found = await all(
      request,
      `select t.id, t.summary, t.is_final, t.first_line_id, hex(p.content) content,
        (select json_group_array(json_array(id, display_name)) from participants where call_id = t.call_id) names
      from transcripts t join transcript_parts p on p.call_id = t.call_id
      where t.call_id = (${endedCall(request.caller)}) order by p.part`,
      ...callPath(request),
    );
    const [first] = found;
    if (!first) return null;
    const content = found.map((part) => part.content).join("");
    return {
      body: {
        id: first.id,
        summary: first.summary ?? "",
        is_final: first.is_final === 1,
        transcript_lines: await unpacked(content, first.first_line_id, JSON.parse(first.names)),
      },
    };
  },

  "GET 8 organization_users calls soap_note": async (request) => {
    const [found] = await all(
      request,
      `select id, text, is_final from soap_notes where call_id = (${callOf(request.caller)})`,
      ...callPath(request),
    );
    return found ? { body: { ...found, is_final: found.is_final === 1 } } : null;
  },

  "GET 8 organization_users calls egresses": async (request) => {
    const { caller } = request;
    const found = await all(
      request,
      `select e.* from (${callOf(caller)}) left join
        (select ${EGRESS} from egresses where call_id = (${openCall(caller)}) order by id) e`,
      ...callPath(request),
    );
    if (!found[0]) return null;
    return { body: { egresses: found[0].id === null ? [] : found.map(shape.egress) } };
  },

  // One statement that writes the audit entry and returns what it is the entry of.
  "GET 9 organization_users calls egresses": async (request) => {
    const { caller, now, segments } = request;
    const [found] = await all(
      request,
      `insert into egress_audit_logs (organization_id, egress_id, event, user_id, created_at)
      select ?1, id, 'read', ?5, ?6 from egresses where id = ?4 and call_id = (${openCall(caller)})
      returning id, (select json_object('id', id, 'egress_id', egress_id, 'status', status, 'error', error,
        'is_stopped', is_stopped, 'ended_at', ended_at, 'created_at', created_at, 'updated_at', updated_at,
        'storage_key', storage_key) from egresses where id = ?4) egress`,
      ...callPath(request),
      Number(segments[8]),
      caller.user_id,
      now,
    );
    if (!found) return null;
    const row = JSON.parse(found.egress);
    return {
      body: {
        ...shape.egress(row),
        url: row.storage_key && (await presign(request, row.storage_key, found.id)),
      },
    };
  },

  "GET 10 organization_users calls egresses audit_logs": (request) => {
    const audited = `(select id from egresses where id = ?4 and call_id = (${endedCall(request.caller)}))`;
    return paged(request, "audit_logs", shape.auditLog, {
      total: `(select coalesce((select sum(total) from list_totals where owner_id = e.id and list in
        ('egress_audit_logs:create', 'egress_audit_logs:update', 'egress_audit_logs:read')), 0) from ${audited} e)`,
      columns: "id, event, user_id, object_changes, created_at",
      from: `from egress_audit_logs
        where egress_id = ${audited} order by created_at desc, id desc`,
      values: [...callPath(request), Number(request.segments[8])],
    });
  },
};

const callPath = ({ caller, segments }: FloorRequest) => [
  caller.organization_id,
  Number(segments[4]),
  Number(segments[6]),
];

/** Made once: its settings are the isolate's. */
let signer: AwsClient | undefined;

async function presign({ env, url, now }: FloorRequest, storage_key: string, entry: number): Promise<string> {
  signer ??= new AwsClient({
    accessKeyId: env.RECORDINGS_S3_ACCESS_KEY_ID,
    secretAccessKey: env.RECORDINGS_S3_SECRET_ACCESS_KEY,
    region: "auto",
    service: "s3",
  });
  const target = new URL(`${env.RECORDINGS_S3_ENDPOINT}/recordings/${storage_key}`, url.origin);
  target.searchParams.set("X-Amz-Expires", "900");
  target.searchParams.set("response-content-disposition", "attachment");
  target.searchParams.set("x-audit-log-id", String(entry));
  const datetime = new Date(now).toISOString().replace(/[:-]|\.\d{3}/g, "");
  return (await signer.sign(target.href, { method: "GET", aws: { signQuery: true, datetime } })).url;
}
