import slugify from "@sindresorhus/slugify";
import { withoutCase } from "../../src/http/wire.ts";
import type { FloorHandler, FloorRequest, Row } from "./floor.ts";
import { ROOM, time, timeOrNull, toRoom } from "./floor_reads.ts";
import { pack } from "./floor_transcripts.ts";

type Bound = [sql: string, ...values: unknown[]];

/**
 * Reads the known rows as one JSON text in one round trip. In another, writes what `decide` returns, if the rows have
 * not changed.
 *
 * @returns the rows that the statements returned
 */
async function report(
  { db }: FloorRequest,
  [sql, ...values]: Bound,
  decide: (known: Row) => Bound[] | Promise<Bound[]>,
): Promise<Row[]> {
  const read = db.prepare(`select ${sql} known`).bind(...values);
  const known = await read.first<string>("known");
  const writes = await decide(JSON.parse(known ?? "null"));
  const guard = `insert into write_conflicts (reason) select 'write conflict' where ${sql} is not ?${values.length + 1}`;
  const statements: Bound[] = [[guard, ...values, known], ...writes];
  const [, ...written] = await db.batch<Row>(
    statements.map(([text, ...bound]) => db.prepare(text).bind(...bound)),
  );
  return written.flatMap(({ results }) => results);
}

const PERSON = "user_id, display_name, role";
const PARTICIPANT = "key, waiting_since, joined_at, left_at, recording_consent";

/** Converts times to milliseconds. */
function stored(sent: Row): Row {
  const fields = { ...sent };
  for (const name of ["waiting_since", "joined_at", "left_at", "started_at", "ended_at"])
    if (fields[name]) fields[name] = Date.parse(fields[name]);
  return fields;
}

/** Handlers by the method and the names in the path (see floor.ts). They accept only the first report of its kind. */
export const floorWrites: Record<string, FloorHandler> = {
  "POST external waiting_rooms 4": async ({ db, caller, request, now }) => {
    const { name, theme = "default", is_active = false } = (await request.json<Row>()).waiting_room;
    const kebab = slugify(name, { decamelize: false }) || "room";
    const taken = (slug: string) => `exists (select 1 from waiting_room_slugs s where s.slug = ${slug})`;
    const statement =
      db.prepare(`insert into waiting_rooms (organization_id, name, name_key, slug, theme, is_active, created_at,
        updated_at)
      values (?1, ?2, ?7, (select case when not ${taken("plain")} then plain
          when not ${taken("numbered")} then numbered else plain || '-' || lower(hex(randomblob(4))) end
        from (select plain, plain || '-' || (coalesce((select max(slug_number) from waiting_room_slugs
            where slug_stem = plain), 1) + 1) numbered
          from (select slug || '--' || ?3 plain from organizations where id = ?1))), ?4, ?5, ?6, ?6)
      returning ${ROOM}`);
    const values = [
      caller.organization_id,
      name.trim(),
      kebab,
      theme,
      Number(is_active),
      now,
      withoutCase(name.trim()),
    ];
    const created = await statement.bind(...values).first<Row>();
    return created && toRoom(created);
  },

  // Foreign keys refuse users of another organization.
  "PUT platform organizations calls 7": async (floorRequest) => {
    const { request, segments, now } = floorRequest;
    const { participants, waiting_room_slug, ...sent } = stored((await request.json<Row>()).call);
    const [organization_id, key] = [Number(segments[4]), segments[6]];
    const people: Row[] = participants.map(stored);
    const known: Bound = [
      `(select json_object('room', room.id, 'organization', room.organization_id,
          'call', (select id from calls where organization_id = ?4 and key = ?1),
          'people', (select count(*) from participants where organization_id = room.organization_id
            and key in (select value from json_each(?3))))
        from waiting_rooms room where organization_id = ?4 and slug = ?2 and retired_at is null)`,
      key,
      waiting_room_slug,
      JSON.stringify(people.map((each) => each.key)),
      organization_id,
    ];
    const call: Row = {
      key,
      organization_user_id: sent.organization_user_id,
      started_at: sent.started_at,
      ended_at: sent.ended_at ?? null,
      failed: Number(sent.failed ?? false),
      created_at: now,
      updated_at: now,
    };
    const [written] = await report(floorRequest, known, ({ room, organization, ...before }) => {
      if (before.call || before.people) throw new Error("Not the first report of the call");
      Object.assign(call, { organization_id: organization, waiting_room_id: room });
      const names = Object.keys(call);
      const fields = (columns: string) => columns.split(", ").map((name) => `value ->> '${name}'`);
      return [
        [
          `insert into calls (${names}) values (${names.map(() => "?")}) returning id`,
          ...Object.values(call),
        ],
        [
          `insert into people (organization_id, created_at, updated_at, ${PERSON}) select ?1, ?2, ?2, ${fields(PERSON)} from json_each(?3)`,
          ...[organization, now, JSON.stringify(people)],
        ],
        [
          `insert into participants (organization_id, waiting_room_id, call_id, person_id, created_at, updated_at, ${PARTICIPANT})
          select ?1, ?2, (select id from calls where organization_id = ?1 and key = ?3),
            (select max(id) from people) - json_array_length(?5) + 1 + each.key, ?4, ?4, ${fields(PARTICIPANT)} from json_each(?5) as each`,
          ...[organization, room, key, now, JSON.stringify(people)],
        ],
      ];
    });
    return {
      id: written?.id,
      organization_user_id: call.organization_user_id,
      waiting_room_id: call.waiting_room_id,
      is_ended: call.ended_at !== null,
      started_at: time(call.started_at),
      ended_at: timeOrNull(call.ended_at),
      key,
      ended_by: call.ended_at === null ? null : "reported",
      failed: call.failed === 1,
      legal_hold: null,
    };
  },

  "PUT platform organizations calls transcript 8": async (floorRequest) => {
    const { request, segments, now } = floorRequest;
    const { lines, summary = null, is_final } = (await request.json<Row>()).transcript;
    lines.sort((a: Row, b: Row) => a.start_time - b.start_time || a.end_time - b.end_time);
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(JSON.stringify(lines)));
    const lines_digest = Buffer.from(digest).toString("hex");
    const known: Bound = [
      `(select json_object('id', id, 'organization', organization_id,
          'transcript', (select id from call_texts where call_id = calls.id and kind = 'transcript'),
          'people', json((select json_group_array(json_array(p.id, key, display_name)) from participants p
            join people on people.id = person_id where call_id = calls.id)))
        from calls where organization_id = ?1 and key = ?2)`,
      Number(segments[4]),
      segments[6],
    ];
    const speakers = new Map<string, Row>();
    const [written] = await report(floorRequest, known, async ({ id, organization, transcript, people }) => {
      for (const [id, key, display_name] of people) speakers.set(key, { id, display_name });
      if (transcript) throw new Error("Not the first report of the transcript");
      if (lines.some((line: Row) => !speakers.has(line.participant_key))) throw new Error("Not on the call");
      return [
        [
          `insert into sequences (name, value) values ('transcript_lines', ?)
          on conflict do update set value = value + excluded.value`,
          lines.length,
        ],
        [
          `insert into call_texts (organization_id, call_id, kind, summary, is_final, lines_digest, first_line_id,
            created_at, updated_at, lines)
          values (?1, ?2, 'transcript', ?3, ?4, ?5, (select value - ?6 + 1 from sequences where name = 'transcript_lines'), ?7, ?7, unhex(?8))
          returning id, first_line_id`,
          ...[organization, id, summary, Number(is_final), lines_digest, lines.length, now],
          await pack(lines, speakers),
        ],
      ];
    });
    return {
      id: written?.id,
      summary: summary ?? "",
      is_final,
      transcript_lines: lines.map(({ participant_key, ...line }: Row, n: number) => ({
        id: written?.first_line_id + n,
        ...line,
        display_name: speakers.get(participant_key)?.display_name,
      })),
    };
  },
};
