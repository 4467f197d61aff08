/** What several of the floor's statements share. */
import type { PlatformFloorRequest } from "./floor.ts";
import type * as shape from "./floor_shapes.ts";

/** Columns, for reads and for what writes return; `?1` is the organization. */
export const ROOM = `id, organization_id, user_id, name, slug, theme, is_active, created_at, updated_at,
  (select count(*) from participants p where p.waiting_room_id = waiting_rooms.id and p.left_at is null
    and p.call_id is null) waiting_count,
  coalesce((select display_name from organization_users m
    where m.organization_id = ?1 and m.user_id = waiting_rooms.user_id),
    (select name from organizations where id = ?1)) owner`;

export const SUB = `id, waiting_room_id, user_id, datetime_start, datetime_end, created_at, updated_at,
  (select slug from waiting_rooms own where own.organization_id = ?1
    and own.user_id = waiting_room_subs.user_id and own.retired_at is null) sub_slug`;

export const INVITE = `id, email, display_name, roles, organization_id, expires_at, used_at, created_at, updated_at,
  (select name from organizations where id = ?1) organization_name`;

export const ORGANIZATION =
  "id, name, slug, recording_retention_days, transcript_retention_days, created_at, updated_at";

export const ISSUER = "id, organization_id, issuer, audience, jwks_url, email_claim, created_at, updated_at";

export async function all(
  { db }: PlatformFloorRequest,
  query: string,
  ...values: unknown[]
): Promise<shape.Row[]> {
  return (
    await db
      .prepare(query)
      .bind(...values)
      .all()
  ).results;
}

/** A page, with its total in each row. Only of an empty page the total is asked by itself; null: there is no list. */
export async function paged(
  request: PlatformFloorRequest,
  name: string,
  toJson: (row: shape.Row) => object,
  { total, columns, from, values }: { total: string; columns: string; from: string; values: unknown[] },
) {
  const page = Number(request.url.searchParams.get("page") ?? 1);
  const per_page = Math.min(Number(request.url.searchParams.get("per_page") ?? 25), 100);
  const found = await all(
    request,
    `select ${columns}, ${total} total_count ${from} limit ${per_page} offset ${(page - 1) * per_page}`,
    ...values,
  );
  const counted = found[0] ?? (await all(request, `select ${total} total_count`, ...values))[0];
  const total_count: number | null = counted?.total_count ?? null;
  if (total_count === null) return null;
  const total_pages = Math.ceil(total_count / per_page);
  return {
    body: {
      [name]: found.map(toJson),
      pagination: { current_page: page, per_page, total_pages, total_count },
    },
  };
}

export const totalOf = (list: string, owner_id: string) =>
  `coalesce((select total from list_totals where list = '${list}' and owner_id = ${owner_id}), 0)`;

/** The slug for a room whose name in kebab case is `name`; `room` is null for a new one. */
export const roomSlug = (name: string, room: string) => `(select case
    when not exists (select 1 from waiting_room_slugs s where s.slug = plain and s.waiting_room_id is not ${room})
      then plain
    else coalesce(
      (select s.slug from waiting_room_slugs s where s.waiting_room_id = ${room} and stem = plain order by number limit 1),
      plain || '-' || iif(exists (select 1 from waiting_room_slugs s where s.slug = plain || '-2'),
        (select min(next_number) from waiting_room_slugs where stem = plain and next_number is not null), 2))
    end
  from (select slug || '--' || ${name} as plain from organizations where id = ?1))`;

/** The body as it was sent. */
export const bodyOf = ({ request }: PlatformFloorRequest): Promise<shape.Row> => request.json();

/** The row that a statement returns, or null. */
export const write = ({ db }: PlatformFloorRequest, query: string, ...values: unknown[]) =>
  db
    .prepare(query)
    .bind(...values)
    .first<shape.Row>();
