/** The floor's platform door: its token, and set-up, by the shape of the path (see floor.ts). */
import slugify from "@sindresorhus/slugify";
import { SignJWT } from "jose";
import type { FloorHandler, PlatformFloorRequest } from "./floor.ts";
import * as shape from "./floor_shapes.ts";
import { all, bodyOf, INVITE, ISSUER, ORGANIZATION, ROOM, roomSlug, SUB, write } from "./floor_statements.ts";

const encoder = new TextEncoder();

const sha256 = async (text: string) =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", encoder.encode(text)));

export async function isPlatform(request: Request, env: Env): Promise<boolean> {
  const token = request.headers.get("Authorization")?.slice("Bearer ".length) ?? "";
  return crypto.subtle.timingSafeEqual(await sha256(token), await sha256(env.PLATFORM_API_TOKEN));
}

const digestOf = async (secret: string) => Buffer.from(await sha256(secret)).toString("hex");

const random = (bytes: number) =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString("base64url");

const kebab = (name: string, otherwise: string) => slugify(name, { decamelize: false }) || otherwise;

/** Here the organization is not the caller's, but the row's. */
const ofRow = (columns: string, table: string) => columns.replaceAll("?1", `${table}.organization_id`);

const ROOM_OF_SLUG = "from waiting_rooms where slug = ?1 and retired_at is null";

const removed = (row: shape.Row | null) => (row ? { status: 204 } : null);

export const platformSetUp: Record<string, FloorHandler<PlatformFloorRequest>> = {
  "GET 5 waiting_rooms": async ({ db, segments, now }) => {
    const [rooms, subs] = await db.batch<shape.Row>([
      db.prepare(`select ${ofRow(ROOM, "waiting_rooms")} ${ROOM_OF_SLUG}`).bind(segments[4]),
      db
        .prepare(
          `select ${ofRow(SUB, "waiting_room_subs")}, (select is_active from waiting_rooms own
            where own.organization_id = waiting_room_subs.organization_id and own.user_id = waiting_room_subs.user_id
              and own.retired_at is null)
            substitute_is_active
          from waiting_room_subs where waiting_room_id = (select id ${ROOM_OF_SLUG})
            and datetime_end > ?2 and datetime_start <= ?2`,
        )
        .bind(segments[4], now),
    ]);
    const [room, sub] = [rooms?.results[0], subs?.results[0]];
    if (!room) return null;
    const destination_slug = sub?.substitute_is_active ? sub.sub_slug : room.slug;
    return {
      body: { waiting_room: shape.room(room), active_sub: sub ? shape.sub(sub) : null, destination_slug },
    };
  },

  "POST 4 organizations": async (request) => {
    const { organization: sent } = await bodyOf(request);
    const row = await write(
      request,
      `insert into organizations (name, slug, created_at, updated_at)
      values (?1, coalesce(?2, (with recursive candidate (suffix, slug) as (
        select 1, ?3 union all select suffix + 1, ?3 || '-' || (suffix + 1) from candidate
        where exists (select 1 from organizations taken where taken.slug = candidate.slug))
        select slug from candidate order by suffix desc limit 1)), ?4, ?4)
      returning ${ORGANIZATION}`,
      sent.name.trim(),
      sent.slug ?? null,
      kebab(sent.name, "organization").slice(0, 55),
      request.now,
    );
    return row && { status: 201, body: shape.organization(row) };
  },

  // Three statements in one round trip; the room is made only for a provider.
  "POST 6 organizations users": async (request) => {
    const { db, segments, now } = request;
    const { user: sent } = await bodyOf(request);
    const [id, email] = [Number(segments[4]), sent.email.trim().toLowerCase()];
    const name = sent.display_name.trim();
    const [, members, rooms] = await db.batch<shape.Row>([
      db
        .prepare(
          "insert into users (email, created_at, updated_at) values (?1, ?2, ?2) on conflict do nothing",
        )
        .bind(email, now),
      db
        .prepare(
          `insert into organization_users (organization_id, user_id, display_name, roles, created_at, updated_at)
          values (?1, (select id from users where email = ?2), ?3, ?4, ?5, ?5) returning id, user_id`,
        )
        .bind(id, email, name, JSON.stringify(sent.roles), now),
      db
        .prepare(
          `insert into waiting_rooms (organization_id, user_id, name, slug, theme, is_active, created_at, updated_at)
          select ?1, (select id from users where email = ?2), ?3, ${roomSlug("?4", "null")}, 'default', true, ?5, ?5
          where ?6 returning slug`,
        )
        .bind(id, email, name, kebab(name, "room"), now, sent.roles.includes("provider") ? 1 : 0),
    ]);
    const body = {
      ...members?.results[0],
      email,
      display_name: name,
      roles: sent.roles,
      organization_id: id,
      waiting_room_slug: rooms?.results[0]?.slug ?? null,
    };
    return { status: 201, body };
  },

  "POST 6 organizations api_clients": async (request) => {
    const { name, organization_user_id } = (await bodyOf(request)).api_client;
    const [client_id, client_secret] = [random(16), random(32)];
    const row = await write(
      request,
      `insert into api_clients (organization_id, organization_user_id, name, client_id, secret_digest,
        created_at, updated_at)
      values (?1, ?2, ?3, ?4, ?5, ?6, ?6) returning id`,
      Number(request.segments[4]),
      organization_user_id,
      name.trim(),
      client_id,
      await digestOf(client_secret),
      request.now,
    );
    const body = { id: row?.id, name: name.trim(), organization_user_id, client_id, client_secret };
    return row && { status: 201, body };
  },

  "DELETE 5 api_clients": async (request) =>
    removed(
      await write(
        request,
        "update api_clients set revoked_at = ?2, updated_at = ?2 where id = ?1 and revoked_at is null returning id",
        Number(request.segments[4]),
        request.now,
      ),
    ),

  "POST 6 organizations issuers": async (request) => {
    const { issuer: sent } = await bodyOf(request);
    const row = await write(
      request,
      `insert into issuers (organization_id, issuer, audience, jwks_url, email_claim, created_at, updated_at)
      values (?1, ?2, ?3, ?4, ?5, ?6, ?6)
      returning ${ISSUER}`,
      Number(request.segments[4]),
      sent.issuer.trim(),
      sent.audience.trim(),
      sent.jwks_url.trim(),
      sent.email_claim ?? "email",
      request.now,
    );
    return row && { status: 201, body: shape.issuer(row) };
  },

  "DELETE 5 issuers": async (request) =>
    removed(
      await write(request, "delete from issuers where id = ? returning id", Number(request.segments[4])),
    ),

  "POST 5 authorization_codes": async (request) => {
    const { code } = await bodyOf(request);
    const row = await write(
      request,
      `update authorization_codes set used_at = ?2 where code_digest = ?1 and used_at is null and expires_at > ?2
      returning (select json_object(
        'organization', json_object('id', o.id, 'name', o.name, 'slug', o.slug),
        'user', json_object('id', u.id, 'email', u.email, 'display_name', m.display_name),
        'organization_user', json_object('id', m.id, 'roles', json(m.roles)))
        from organization_users m join users u on u.id = m.user_id join organizations o on o.id = m.organization_id
        where m.id = organization_user_id) redeemed`,
      await digestOf(code),
      request.now,
    );
    return row && { body: JSON.parse(row.redeemed) };
  },

  "GET 5 invites": async (request) => {
    const id = Number(request.segments[4]);
    const [invite] = await all(request, `select ${ofRow(INVITE, "invites")} from invites where id = ?1`, id);
    if (!invite) return null;
    const { APP_URL, INVITE_TOKEN_SECRET } = request.env;
    const { organization_id, created_at } = invite;
    const token = await new SignJWT({ sub: String(id), organization_id, created_at })
      .setProtectedHeader({ alg: "HS256", typ: "invite+jwt" })
      .sign(encoder.encode(INVITE_TOKEN_SECRET));
    return { body: { ...shape.invite(invite), accept_url: `${APP_URL}/invites/accept?token=${token}` } };
  },
};
