/** The floor's reads of set-up, by the shape of their path (see floor.ts). */
import type { FloorHandler } from "./floor.ts";
import * as shape from "./floor_shapes.ts";
import { all, INVITE, paged, ROOM, SUB, totalOf } from "./floor_statements.ts";

const ROLES = ["provider_assistant", "provider", "organization_admin"];

export const reads: Record<string, FloorHandler> = {
  "GET 4 roles": async ({ caller }) => ({
    body: { roles: ROLES.slice(0, Math.max(...caller.roles.map((role) => ROLES.indexOf(role))) + 1) },
  }),

  "GET 4 organization_users": (request) =>
    paged(request, "organization_users", shape.member, {
      total: totalOf("organization_users", "?1"),
      columns: "m.id, m.user_id, u.email, m.display_name, m.roles",
      from: `from organization_users m
        join users u on u.id = m.user_id where m.organization_id = ?1 order by m.id`,
      values: [request.caller.organization_id],
    }),

  "GET 4 waiting_rooms": (request) =>
    paged(request, "waiting_rooms", shape.room, {
      total: totalOf("waiting_rooms", "?1"),
      columns: ROOM,
      from: `from waiting_rooms where organization_id = ?1 and retired_at is null order by id`,
      values: [request.caller.organization_id],
    }),

  "GET 5 waiting_rooms": async (request) => {
    const [found] = await all(
      request,
      `select ${ROOM} from waiting_rooms where slug = ?2 and retired_at is null and organization_id = ?1`,
      request.caller.organization_id,
      request.segments[4],
    );
    return found ? { body: shape.room(found) } : null;
  },

  "GET 6 waiting_rooms waiting_room_subs": async (request) => {
    const found = await all(
      request,
      `select * from (select id room from waiting_rooms
        where slug = ?2 and retired_at is null and organization_id = ?1)
      left join (select ${SUB} from waiting_room_subs) on waiting_room_id = room and datetime_end > ?3
      order by datetime_end`,
      request.caller.organization_id,
      request.segments[4],
      request.now,
    );
    if (!found[0]) return null;
    return { body: { waiting_room_subs: found[0].id === null ? [] : found.map(shape.sub) } };
  },

  // The plus keeps SQLite from the index by expiry: from sorting.
  "GET 4 invites": (request) =>
    paged(request, "organization_invites", shape.invite, {
      total: `${totalOf("invites", "?1")} - (select count(*) from invites
        where organization_id = ?1 and expires_at <= ?2 and used_at is null and not is_lapsed)`,
      columns: INVITE,
      from: `from invites
        where organization_id = ?1 and used_at is null and not is_lapsed and +expires_at > ?2 order by id`,
      values: [request.caller.organization_id, request.now],
    }),

  "GET 5 invites": async (request) => {
    const { caller, segments } = request;
    const [found] = await all(
      request,
      `select ${INVITE} from invites where id = ?2 and organization_id = ?1`,
      caller.organization_id,
      Number(segments[4]),
    );
    return found ? { body: shape.invite(found) } : null;
  },

  // Read in one pass over the bulk invite's rows: the counts, and the failures among them.
  "GET 5 bulk_invites": async (request) => {
    const { caller, segments } = request;
    const [found] = await all(
      request,
      `select b.id, b.total_count, b.created_at, b.updated_at, count(*) filter (where r.status = 'created') created_count,
        count(*) filter (where r.status = 'failed') failed_count,
        json_group_array(json_object('row', r.row, 'email', nullif(r.email, ''), 'error', coalesce(r.error, '')) order by r.row)
          filter (where r.status = 'failed') failures
      from bulk_invites b left join bulk_invite_rows r on r.bulk_invite_id = b.id
      where b.id = ?2 and b.organization_id = ?1 group by b.id`,
      caller.organization_id,
      Number(segments[4]),
    );
    if (!found) return null;
    return { body: { bulk_invite: { ...shape.bulkInvite(found), failures: JSON.parse(found.failures) } } };
  },
};
