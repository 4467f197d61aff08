import { AwsClient } from "aws4fetch";
import type { FloorHandler, FloorRequest, Row } from "./floor.ts";
import { unpack } from "./floor_transcripts.ts";

export const time = (milliseconds: number) => new Date(milliseconds).toISOString();

export const timeOrNull = (milliseconds: number | null) =>
  milliseconds === null ? null : time(milliseconds);

/** The columns of a room. `?1` is the organization. */
export const ROOM = `id, organization_id, user_id, name, slug, theme, is_active, created_at, updated_at,
  (select count(*) from participants p where p.waiting_room_id = waiting_rooms.id and p.left_at is null
    and p.call_id is null) waiting_count,
  coalesce((select display_name from organization_users m
    where m.organization_id = ?1 and m.id = waiting_rooms.user_id),
    (select name from organizations where id = ?1)) owner`;

export const toRoom = (r: Row) => ({
  id: r.id,
  organization_id: r.user_id === null ? r.organization_id : null,
  user_id: r.user_id,
  name: r.name,
  slug: r.slug,
  theme: r.theme,
  is_active: r.is_active === 1,
  created_at: time(r.created_at),
  updated_at: time(r.updated_at),
  waiting_count: r.waiting_count,
  user: { display_name: r.owner },
});

async function all({ db }: FloorRequest, query: string, ...values: unknown[]): Promise<Row[]> {
  const statement = db.prepare(query).bind(...values);
  return (await statement.all<Row>()).results;
}

const callOfPath = ({ caller, segments: [, , , , user, , call] }: FloorRequest) => [
  caller.organization_id,
  user,
  call,
];

/** The call `?3` of the organization user `?2`, if the caller may see that user's calls and the call has ended. */
function endedCall({ caller: { roles, organization_user_id: own } }: FloorRequest): string {
  const reached = roles.includes("organization_admin")
    ? ""
    : `and (id = ${own} or id in (select provider_id from organization_user_assists where assistant_id = ${own}))`;
  return `select id from calls where id = ?3 and ended_at is not null and organization_user_id =
    (select id from organization_users where organization_id = ?1 and id = ?2 ${reached})`;
}

/** Handlers by the method and the names in the path (see floor.ts). */
export const floorReads: Record<string, FloorHandler> = {
  "GET external waiting_rooms 5": async (request) => {
    const [found] = await all(
      request,
      `select ${ROOM} from waiting_rooms where slug = ?2 and retired_at is null and organization_id = ?1`,
      request.caller.organization_id,
      request.segments[4],
    );
    return found ? toRoom(found) : null;
  },

  // Each row has the total.
  "GET external waiting_rooms 4": async (request) => {
    const { searchParams } = request.url;
    const page = Number(searchParams.get("page") ?? 1);
    const per_page = Math.min(Number(searchParams.get("per_page") ?? 25), 100);
    const own = "from waiting_rooms where organization_id = ?1 and retired_at is null";
    const found = await all(
      request,
      `select ${ROOM}, (select count(*) ${own}) total_count ${own} order by id limit ?2 offset ?3`,
      request.caller.organization_id,
      per_page,
      (page - 1) * per_page,
    );
    const total_count = found[0]?.total_count ?? 0;
    const total_pages = Math.ceil(total_count / per_page);
    return {
      waiting_rooms: found.map(toRoom),
      pagination: { current_page: page, per_page, total_pages, total_count },
    };
  },

  "GET external call_metrics 4": async (request) => {
    const { searchParams } = request.url;
    const found = await all(
      request,
      `select date, total_calls, failed_calls, ended_calls, duration_ms, waits, wait_ms from call_daily_metrics
      where organization_id = ?1 and organization_user_id = 0 and date between ?2 and ?3 and total_calls > 0
      order by date`,
      request.caller.organization_id,
      searchParams.get("date_start"),
      searchParams.get("date_end"),
    );
    const metrics: Row = { total_calls: {}, average_duration: {}, call_fail_rate: {}, average_wait_time: {} };
    for (const r of found) {
      metrics.total_calls[r.date] = r.total_calls;
      metrics.average_duration[r.date] = r.ended_calls ? r.duration_ms / 1000 / r.ended_calls : 0;
      metrics.call_fail_rate[r.date] = r.failed_calls / r.total_calls;
      metrics.average_wait_time[r.date] = r.waits ? r.wait_ms / 1000 / r.waits : 0;
    }
    return metrics;
  },

  "GET external organization_users calls transcript 8": async (request) => {
    const found = await all(
      request,
      `select t.id, t.summary, t.is_final, t.first_line_id, hex(t.lines) content,
        (select json_group_array(json_array(p.id, display_name)) from participants p join people on people.id = person_id where call_id = t.call_id) names
      from call_texts t where t.kind = 'transcript' and t.call_id = (${endedCall(request)})`,
      ...callOfPath(request),
    );
    const [first] = found;
    if (!first) return null;
    return {
      id: first.id,
      summary: first.summary ?? "",
      is_final: first.is_final === 1,
      transcript_lines: await unpack(first.content, first.first_line_id, JSON.parse(first.names)),
    };
  },

  // One statement writes the audit entry and returns the recording. `min` of no rows is null, which is not 1.
  "GET external organization_users calls egresses 9": async (request) => {
    const [found] = await all(
      request,
      `insert into egress_audit_logs (organization_id, egress_id, event, user_id, created_at)
      select ?1, id, 'read', ?5, ?6 from egresses where id = ?4 and call_id = (${endedCall(request)}
        and (select min(recording_consent is true) from participants where call_id = ?3) = 1)
      returning id, (select json_object('id', id, 'egress_id', egress_id, 'status', status, 'error', error,
        'is_stopped', is_stopped, 'ended_at', ended_at, 'created_at', created_at, 'updated_at', updated_at,
        'storage_key', storage_key) from egresses where id = ?4) egress`,
      ...callOfPath(request),
      Number(request.segments[8]),
      request.caller.user_id,
      request.now,
    );
    if (!found) return null;
    const { storage_key, ...r } = JSON.parse(found.egress);
    return {
      ...r,
      is_stopped: r.is_stopped === 1,
      ended_at: timeOrNull(r.ended_at),
      created_at: time(r.created_at),
      updated_at: time(r.updated_at),
      url: storage_key && (await presign(request, storage_key, found.id)),
    };
  },
};

/** Created once, because an isolate's settings do not change. */
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
  const datetime = time(now).replace(/[:-]|\.\d{3}/g, "");
  return (await signer.sign(target.href, { method: "GET", aws: { signQuery: true, datetime } })).url;
}
