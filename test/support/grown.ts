/** Organizations with many rows, made without sending a request for each. */

import { RECORDED_PARTICIPANTS } from "./recorded_participants.ts";

export interface Grown {
  id: number;
  /** The id of an administrator. */
  user_id: number;
  client_id: number;
  /** The ids of a provider and of the provider's room. */
  provider_id: number;
  room_id: number;
  /** The slugs of its rooms begin with this. */
  slug: string;
}

export type Run = (statement: string, ...values: unknown[]) => Promise<unknown>;

const DAY = 86_400_000;

/** The access log may have one seal, for an earlier day. */
const AFTER_SEALED_DAY = Date.parse("1990-02-01");

/** The number of rows that one statement inserts. More would take D1 too long. */
const PORTION = 10_000;

/** Inserts the rows that the SELECT makes for each `n` from 1 to `size`. `values` are its parameters, the same for every row. */
async function insert(run: Run, size: number, into: string, select: string, values: unknown[]) {
  for (let from = 1; from <= size; from += PORTION) {
    const to = Math.min(from + PORTION - 1, size);
    const counter = `with recursive counter (n) as (select ${from} union all select n + 1 from counter where n < ${to})`;
    await run(`${counter} insert into ${into} ${select}`, ...values);
  }
}

/**
 * Adds calls of one provider, each with a participant, a consent, both texts and a recording.
 *
 * @param start when a call started, in SQL; by default one starts on each day since 1970
 */
export async function growCalls(
  run: Run,
  { id, provider_id, room_id }: Pick<Grown, "id" | "provider_id" | "room_id">,
  size: number,
  now: number,
  start = `n * ${DAY}`,
) {
  const values = [id, provider_id, room_id, now];
  await insert(
    run,
    size,
    "calls (organization_id, key, organization_user_id, waiting_room_id, started_at, ended_at, failed, external_reference, created_at, updated_at)",
    `select ?1, 'grown-' || n, ?2, ?3, ${start}, ${start} + 1, false, 'visit-' || (n / 10), ?4, ?4 from counter`,
    values,
  );
  const grown = "from calls where organization_id = ?1 and key glob 'grown-*'";
  const portions = Math.ceil(size / PORTION);
  /** Inserts a row for each call. */
  const forEach = async (into: string, columns: string, select: string, from = grown) => {
    for (let portion = 0; portion < portions; portion++)
      await run(
        `insert into ${into} (organization_id, ${columns}) select organization_id, ${select} ${from} order by id limit ${PORTION} offset ${portion * PORTION}`,
        id,
      );
  };
  for (const statement of RECORDED_PARTICIPANTS) await run(statement);
  await forEach(
    "recorded_participants",
    "key, waiting_room_id, call_id, display_name, role, external_reference, joined_at, left_at, created_at, updated_at",
    `key, waiting_room_id, id, 'Rita Recipient', 'recipient', replace(external_reference, 'visit', 'patient'), started_at, ended_at, ${now}, ${now}`,
  );
  await forEach(
    "consents",
    "participant_id, reporter, decision, decided_at, reported_at, created_at",
    `id, 'platform', 'granted', joined_at, ${now}, ${now}`,
    "from participants where organization_id = ?1 and key glob 'grown-*'",
  );
  const text = "call_id, kind, is_final, text, lines_digest, created_at, updated_at";
  await forEach("call_texts", text, `id, 'transcript', 1, null, 'digest', ${now}, ${now}`);
  await forEach("call_texts", text, `id, 'soap_note', 1, 'Subjective: feels better.', null, ${now}, ${now}`);
  await forEach(
    "egresses",
    "call_id, egress_id, status, is_stopped, ended_at, storage_key, created_at, updated_at",
    `id, key, 'egress_ended', 1, ended_at, 'grown/' || key || '.mp4', ${now}, ${now}`,
  );
}

/** Adds rows to every other table that grows. At `now`, the cron has nothing to do with any of them. */
export async function growEverythingElse(run: Run, organization: Grown, size: number, now: number) {
  const { id, user_id, client_id, provider_id, room_id, slug } = organization;
  const values = [id, user_id, client_id, provider_id, room_id, slug, now];
  const unused = `where ?1 + ?2 + ?3 + ?4 + ?5 + ?7 > 0 and ?6 <> ''`;
  const rows = (table: string, columns: string, select: string, count = size) =>
    insert(
      run,
      count,
      `${table} (organization_id, ${columns})`,
      `select ?1, ${select} from counter ${unused}`,
      values,
    );
  const forEach = (table: string, columns: string, select: string, from: string) =>
    run(
      `insert into ${table} (organization_id, ${columns}) select organization_id, ${select} from ${from} order by rowid limit ${size}`,
      id,
    );
  await rows(
    "organization_users",
    "email, display_name, roles, created_at, updated_at",
    `n || '@grown.example', 'Paula Provider', '["provider"]', ?7, ?7`,
  );
  await forEach(
    "organization_user_assists",
    "assistant_id, provider_id",
    "id, id",
    "organization_users where organization_id = ?1 and email glob '*@grown.example'",
  );
  await rows(
    "api_clients",
    "organization_user_id, name, client_id, secret_digest, secret_hint, revoked_at, created_at, updated_at",
    "?2, 'Integration', printf('%011d%011d', ?1, n), '', 'aB3d', n, ?7, ?7",
  );
  await rows("idempotency_keys", "api_client_id, key, fingerprint, created_at", "?3, 'grown-' || n, '', ?7");
  await rows(
    "issuers",
    "issuer, audience, jwks_url, email_claim, created_at, updated_at",
    "'https://idp-' || n || '.example', 'grown', 'https://idp.example/jwks', 'email', n, n",
  );
  await rows(
    "authorization_codes",
    "organization_user_id, code_digest, expires_at, created_at",
    "?2, ?1 || '-grown-' || n, ?7 - 60000, 0",
  );
  await rows(
    "waiting_rooms",
    "name, name_key, slug, theme, is_active, created_at, updated_at",
    "'Room ' || n, 'room ' || n, ?6 || '--grown-room-' || n, 'default', true, ?7, ?7",
  );
  await forEach(
    "waiting_room_subs",
    "waiting_room_id, datetime_start, datetime_end, created_at, updated_at",
    `id, 1, 2, ${now}, ${now}`,
    "waiting_rooms where organization_id = ?1 and slug glob '*--grown-room-*'",
  );
  await rows(
    "visits",
    "waiting_room_id, organization_user_id, external_reference, status, starts_at, ends_at, last_participant_id, created_at, updated_at",
    `?5, ?4, 'visit-' || (n / 10), 'missed', n * ${DAY}, n * ${DAY} + 1, 1, ?7, ?7`,
  );
  await forEach(
    "people",
    "visit_id, number, display_name, role, external_reference, reference_digest, created_at, updated_at",
    `id, 1, 'Rita Recipient', 'recipient', 'grown', 'grown-' || id, ${now}, ${now}`,
    "visits where organization_id = ?1",
  );
  await forEach(
    "legal_holds",
    "call_id, begun_by, began_at, ended_at",
    "id, 'platform', 1, 2",
    "calls where organization_id = ?1",
  );
  await forEach(
    "call_text_versions",
    "text_id, version, text, reason, user_id, created_at",
    `id, 1, 'Well.', 'Misheard', ${user_id}, 1`,
    "call_texts where organization_id = ?1 and kind = 'soap_note'",
  );
  await forEach(
    "former_references",
    "reference_digest, person_id",
    "'grown-' || id, id",
    "people where organization_id = ?1",
  );
  await rows(
    "recorded_participants",
    "key, waiting_room_id, display_name, role, waiting_since, left_at, created_at, updated_at",
    "'waited-' || n, ?5, 'Rita Recipient', 'recipient', n, n + 1, ?7, ?7",
  );
  await rows(
    "egresses",
    "egress_id, call_key, status, is_stopped, created_at, updated_at",
    "'waiting-' || n, 'RM-' || n, 'egress_starting', 0, ?7, ?7",
  );
  await rows(
    "early_refusals",
    "call_key, key_digest, other_digest, joined_at, came, decided_at, reported_at, unclaimed_since, created_at",
    "'RM-refused-' || n, 'digest', 'digest', ?7, 1, ?7, ?7, ?7, ?7",
  );
  await rows("livekit_rooms", "room_sid, closed_at, created_at, updated_at", "'RM-closed-' || n, ?7, ?7, ?7");
  await rows(
    "livekit_visitors",
    "room_sid, key_digest, connections, created_at, updated_at",
    "'RM-closed-' || n, 'digest', '[]', ?7, ?7",
  );
  await rows(
    "access_logs",
    "at, event, resource, resource_id, user_id, api_client_id, acting_user",
    `${AFTER_SEALED_DAY} + n * ${DAY}, 'update', 'waiting_room', ?5, ?2, null, 'grown-' || n`,
  );
  await forEach(
    "access_log_seals",
    "date, count, first_id, last_id, sha256, previous, jws, jws_sha256, created_at",
    `date(at / 1000, 'unixepoch'), 1, id, id, printf('%064x', id), iif(acting_user = 'grown-1',
       (select jws_sha256 from access_log_seals where organization_id = ?1), printf('%064x', at / ${DAY} - 1)),
       'a.b.c', printf('%064x', at / ${DAY}), ${now}`,
    "access_logs where organization_id = ?1 and acting_user glob 'grown-*'",
  );
  const invite =
    "created_by_user_id, email, display_name, roles, expires_at, used_at, created_at, updated_at";
  await rows(
    "invites",
    invite,
    `?2, n || '@used.example', 'Invitee', '["provider"]', ?7 + ${DAY}, ?7, ?7, ?7`,
  );
  // Fewer than the quota of unused invites.
  const unusedInvites = Math.min(size, 9000);
  await rows(
    "invites",
    invite,
    `?2, n || '@unused.example', 'Invitee', '["provider"]', ?7 + ${DAY}, null, ?7, ?7`,
    unusedInvites,
  );
  await rows(
    "bulk_invites",
    "total_count, completed_at, erased_at, created_at, updated_at, created_by_user_id",
    "1, 1, 1, 1, 1, ?2",
  );
  await forEach(
    "bulk_invite_rows",
    "bulk_invite_id, row, email, address_digest, display_name, roles, status",
    "id, 0, '', '', '', '[]', 'created'",
    "bulk_invites where organization_id = ?1",
  );
  await rows(
    "webhook_endpoints",
    "url, is_active, secret, created_at, updated_at, created_by_user_id",
    "'https://hooks.example.com', false, 'whsec_', 1, 1, ?2",
    1,
  );
  await forEach(
    "webhook_deliveries",
    "webhook_endpoint_id, event_id",
    "(select min(id) from webhook_endpoints where organization_id = ?1), id",
    "events where organization_id = ?1",
  );
  await rows("mailed_addresses", "day, address_digest, count", `?7 - ?7 % ${DAY}, 'grown-' || n, 1`);
  await rows("organization_days", "date, writes", `date(n * ${DAY / 1000}, 'unixepoch'), 1`);
}

/** Adds places to the directory, with their organizations. */
export async function growOrganizations(run: Run, size: number) {
  await insert(run, size, "places (slug, shard)", "select 'grown-organization-' || n, 0 from counter", []);
  await run(
    `insert into organizations (id, name, slug, created_at, updated_at)
     select id, 'Clinic', slug, 1, 1 from places where shard = 0 and id not in (select id from organizations)`,
  );
}
