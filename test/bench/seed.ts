/**
 * Rows by the thousand, in SQL: through the doors they would take hours. The triggers stay, and keep the totals and the
 * metrics as they do for any other row.
 */

/** D1 answers a statement in bounded time, so many rows are several statements. */
const PORTION = 10_000;

const DAY = 86_400_000;

interface Lists {
  organization_id: number;
  organization_user_id: number;
  call: { waiting_room_id: number; audited: number };
  size: number;
  slug: string;
}

export async function seedLists(
  db: D1Database,
  { organization_id, organization_user_id, call, size, slug }: Lists,
) {
  const now = Date.now();
  for (let from = 0; from < size; from += PORTION) {
    const to = Math.min(from + PORTION, size);
    const numbered = `with recursive numbered (n) as (select ${from} union all select n + 1 from numbered where n + 1 < ${to})`;
    await db.batch([
      db
        .prepare(
          `insert into waiting_rooms (organization_id, name, slug, theme, is_active, created_at, updated_at)
          ${numbered} select ?1, 'Room ' || n, ?2 || '--seeded-' || n, 'default', true, ?3, ?3 from numbered`,
        )
        .bind(organization_id, slug, now),
      db
        .prepare(
          `insert into invites (organization_id, email, display_name, roles, expires_at, created_at, updated_at)
          ${numbered} select ?1, 'invitee-' || n || '@example.com', 'Ivy Invitee', '["provider"]', ?2 + ${DAY}, ?2, ?2
          from numbered`,
        )
        .bind(organization_id, now),
      // Spread over a year, so that every date has some of them.
      db
        .prepare(
          `insert into calls (organization_id, key, organization_user_id, waiting_room_id, started_at, ended_at, failed,
            created_at, updated_at)
          ${numbered} select ?1, ?2 || '-call-' || n, ?3, ?4, ?5 - (n % 366) * ${DAY} - n,
            ?5 - (n % 366) * ${DAY} - n + 600000, false, ?5, ?5 from numbered`,
        )
        .bind(organization_id, slug, organization_user_id, call.waiting_room_id, now),
      db
        .prepare(
          `insert into egress_audit_logs (organization_id, egress_id, event, user_id, object_changes, created_at)
          ${numbered} select ?1, ?2, 'read', (select user_id from organization_users where id = ?4), null,
            ?3 - n * 1000 from numbered`,
        )
        .bind(organization_id, call.audited, now, organization_user_id),
    ]);
  }
}
