/** The floor's writes, by the shape of their path (see floor.ts). Their rules stand in the statement that writes. */
import slugify from "@sindresorhus/slugify";
import type { FloorHandler } from "./floor.ts";
import * as shape from "./floor_shapes.ts";
import { bodyOf, INVITE, ROOM, roomSlug, SUB, write } from "./floor_statements.ts";

const DAY = 86_400_000;

/** The caller's room `?2`. */
const OWN_ROOM =
  "select id from waiting_rooms where slug = ?2 and retired_at is null and organization_id = ?1";

/** Whether the sub from `start` to `end` may be: the room is not the user's, the user has one, and nothing overlaps. */
const subIsGood = (user_id: string, start: string, end: string, id = "0") => `${start} < ${end}
  and (${user_id} is null or exists (select 1 from waiting_rooms
    where organization_id = ?1 and user_id = ${user_id} and retired_at is null and id <> (${OWN_ROOM})))
  and ${end} <= coalesce((select datetime_start from waiting_room_subs other where other.waiting_room_id = (${OWN_ROOM})
    and other.datetime_end > ${start} and other.id <> ${id} order by other.datetime_end limit 1), ${end})`;

const gone = (row: shape.Row | null) => (row ? { status: 204 } : null);

export const writes: Record<string, FloorHandler> = {
  "POST 4 waiting_rooms": async (request) => {
    const { waiting_room: sent } = await bodyOf(request);
    const row = await write(
      request,
      `insert into waiting_rooms (organization_id, name, slug, theme, is_active, created_at, updated_at)
      values (?1, ?2, ${roomSlug("?3", "null")}, ?4, ?5, ?6, ?6) returning ${ROOM}`,
      request.caller.organization_id,
      sent.name.trim(),
      slugify(sent.name, { decamelize: false }) || "room",
      sent.theme ?? "default",
      sent.is_active ? 1 : 0,
      request.now,
    );
    return row && { status: 201, body: shape.room(row) };
  },

  "PUT 5 waiting_rooms": async (request) => {
    const { waiting_room: sent } = await bodyOf(request);
    const row = await write(
      request,
      `update waiting_rooms set name = coalesce(?3, name),
        slug = case when ?3 is null or name = ?3 then slug else ${roomSlug("?4", "waiting_rooms.id")} end,
        theme = coalesce(?5, theme), is_active = coalesce(?6, is_active), updated_at = ?7
      where slug = ?2 and retired_at is null and organization_id = ?1 returning ${ROOM}`,
      request.caller.organization_id,
      request.segments[4],
      sent.name ?? null,
      sent.name === undefined ? null : slugify(sent.name, { decamelize: false }) || "room",
      sent.theme ?? null,
      sent.is_active === undefined ? null : Number(sent.is_active),
      request.now,
    );
    return row && { body: shape.room(row) };
  },

  "DELETE 5 waiting_rooms": async (request) =>
    gone(
      await write(
        request,
        `update waiting_rooms set retired_at = ?3, updated_at = ?3
        where slug = ?2 and retired_at is null and organization_id = ?1 and user_id is null
          and not exists (select 1 from participants p where p.waiting_room_id = waiting_rooms.id and p.left_at is null)
          and not exists (select 1 from calls c where c.waiting_room_id = waiting_rooms.id and c.ended_at is null)
        returning id`,
        request.caller.organization_id,
        request.segments[4],
        request.now,
      ),
    ),

  "POST 6 waiting_rooms waiting_room_subs": async (request) => {
    const { waiting_room_sub: sent } = await bodyOf(request);
    const start = Date.parse(sent.datetime_start);
    const row = await write(
      request,
      `insert into waiting_room_subs (organization_id, waiting_room_id, user_id, datetime_start, datetime_end,
        created_at, updated_at)
      select ?1, id, ?3, ?4, ?5, ?6, ?6 from (${OWN_ROOM}) where ${subIsGood("?3", "?4", "?5")} returning ${SUB}`,
      request.caller.organization_id,
      request.segments[4],
      sent.user_id,
      start,
      sent.datetime_end ? Date.parse(sent.datetime_end) : start + DAY,
      request.now,
    );
    return row && { status: 201, body: shape.sub(row) };
  },

  "PUT 7 waiting_rooms waiting_room_subs": async (request) => {
    const { waiting_room_sub: sent } = await bodyOf(request);
    // Only what is sent is set: a column that an index covers would write to the index too.
    const fields: Record<string, unknown> = { updated_at: request.now };
    if (sent.user_id !== undefined) fields.user_id = sent.user_id;
    if (sent.datetime_start) fields.datetime_start = Date.parse(sent.datetime_start);
    if (sent.datetime_end) fields.datetime_end = Date.parse(sent.datetime_end);
    const names = Object.keys(fields);
    const value = (name: string) =>
      name in fields ? `?${names.indexOf(name) + 4}` : `waiting_room_subs.${name}`;
    const row = await write(
      request,
      `update waiting_room_subs set ${names.map((name) => `${name} = ${value(name)}`)}
      where id = ?3 and waiting_room_id = (${OWN_ROOM})
        and ${subIsGood(value("user_id"), value("datetime_start"), value("datetime_end"), "?3")} returning ${SUB}`,
      request.caller.organization_id,
      request.segments[4],
      Number(request.segments[6]),
      ...Object.values(fields),
    );
    return row && { body: shape.sub(row) };
  },

  "DELETE 7 waiting_rooms waiting_room_subs": async (request) =>
    gone(
      await write(
        request,
        `delete from waiting_room_subs where id = ?3 and waiting_room_id = (${OWN_ROOM}) returning id`,
        request.caller.organization_id,
        request.segments[4],
        Number(request.segments[6]),
      ),
    ),

  // What has expired lapses first: two statements, one round trip.
  "POST 4 invites": async (request) => {
    const { organization_invite: sent } = await bodyOf(request);
    const { db, caller, now } = request;
    const email = sent.email.trim().toLowerCase();
    const [, inserted] = await db.batch<shape.Row>([
      db
        .prepare(
          `update invites set is_lapsed = 1 where organization_id = ? and email = ? and used_at is null
            and not is_lapsed and expires_at <= ?`,
        )
        .bind(caller.organization_id, email, now),
      db
        .prepare(
          `insert into invites (organization_id, email, display_name, roles, expires_at, created_at, updated_at)
          select ?1, ?2, ?3, ?4, ?5, ?6, ?6 where not exists (select 1 from organization_users
            where organization_id = ?1 and user_id = (select id from users where email = ?2)) returning ${INVITE}`,
        )
        .bind(
          caller.organization_id,
          email,
          sent.display_name.trim(),
          JSON.stringify(sent.role_names),
          now + 7 * DAY,
          now,
        ),
    ]);
    const row = inserted?.results[0];
    return row ? { status: 201, body: shape.invite(row) } : null;
  },

  "DELETE 5 invites": async (request) =>
    gone(
      await write(
        request,
        "delete from invites where id = ? and organization_id = ? and used_at is null returning id",
        Number(request.segments[4]),
        request.caller.organization_id,
      ),
    ),

  "POST 5 invites": async (request) => {
    const { organization_invites: sent } = await bodyOf(request);
    const { db, caller, now, env } = request;
    const rows = sent.map((row: shape.Row) => ({ ...row, email: row.email.trim().toLowerCase() }));
    const [made] = await db.batch<shape.Row>([
      db
        .prepare(
          `insert into bulk_invites (organization_id, total_count, queued_at, created_at, updated_at)
          values (?1, ?2, ?3, ?3, ?3) returning id, total_count, created_at, updated_at`,
        )
        .bind(caller.organization_id, rows.length, now),
      db
        .prepare(
          `insert into bulk_invite_rows (organization_id, bulk_invite_id, row, email, display_name, roles, status)
          select ?1, (select max(id) from bulk_invites), key, value ->> 'email', value ->> 'display_name',
            value ->> 'role_names', 'pending' from json_each(?2)`,
        )
        .bind(caller.organization_id, JSON.stringify(rows)),
    ]);
    const row = { ...made?.results[0], created_count: 0, failed_count: 0 } as shape.Row;
    const chunk = {
      schema: "bulk_invite_chunk/1" as const,
      bulk_invite_id: row.id,
      first_row: 0,
      last_row: rows.length - 1,
    };
    await env.BULK_INVITES.sendBatch([{ body: chunk }]);
    const headers = { Location: `/api/external/bulk_invites/${row.id}` };
    return { status: 201, body: { bulk_invite: shape.bulkInvite(row) }, headers };
  },
};
