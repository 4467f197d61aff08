/** The floor's reports of participants and calls, by the shape of their path (see floor.ts). */
import type { FloorHandler, PlatformFloorRequest } from "./floor.ts";
import { type Bound, jsonObject, jsonOf, report, save, stored } from "./floor_report.ts";
import { platformResults } from "./floor_report_results.ts";
import * as shape from "./floor_shapes.ts";
import { bodyOf } from "./floor_statements.ts";

const PARTICIPANT = `id, organization_id, key, waiting_room_id, call_id, user_id, display_name, role, waiting_since,
  joined_at, left_at, recording_consent`;

const CALL =
  "id, organization_id, organization_user_id, waiting_room_id, started_at, ended_at, failed, legal_hold";

const UNKNOWN = { call_id: null, user_id: null, waiting_since: null, joined_at: null, left_at: null };

/** One who has left stays gone, but for one who comes back. */
const merge = (known: shape.Row | null, sent: shape.Row, comesBack: boolean): shape.Row => ({
  ...UNKNOWN,
  ...known,
  ...sent,
  left_at: sent.left_at ?? (comesBack ? null : (known?.left_at ?? null)),
});

export const platformReports: Record<string, FloorHandler<PlatformFloorRequest>> = {
  ...platformResults,

  "PUT 7 waiting_rooms participants": async (request) => {
    const sent = stored((await bodyOf(request)).participant);
    const [slug, key] = [request.segments[4], request.segments[6]];
    let row: shape.Row = {};
    const room = jsonOf(
      "id, organization_id, is_active",
      "waiting_rooms where slug = ?1 and retired_at is null",
    );
    const participant = jsonOf(
      PARTICIPANT,
      `participants where key = ?2
      and organization_id = (select organization_id from waiting_rooms where slug = ?1 and retired_at is null)`,
    );
    const found = { sql: `json_object('room', ${room}, 'known', ${participant})`, values: [slug, key] };
    const [[written] = []] = await report(request, found, ({ room, known }) => {
      const isElsewhere = known?.waiting_room_id !== room.id;
      const isLate =
        known &&
        sent.waiting_since < known.waiting_since &&
        (isElsewhere || sent.left_at < known.waiting_since);
      const comesBack = known?.call_id === null && sent.waiting_since > known.left_at;
      row = merge(known, isLate ? {} : { ...sent, key, organization_id: room.organization_id }, comesBack);
      const isPresent = !isLate && row.left_at === null && row.call_id === null;
      if (!known || (isPresent && (known.left_at !== null || isElsewhere))) {
        if (isPresent && !room.is_active) throw new Error("The waiting room is not active");
        row.waiting_room_id = room.id;
      }
      const statement = save("participants", known, row, request.now);
      return statement ? [statement] : [];
    });
    return { body: shape.participant({ ...row, ...written }) };
  },

  "PUT 5 calls": async (request) => {
    const { now, segments } = request;
    const { participants = [], waiting_room_slug = null, ...fields } = (await bodyOf(request)).call;
    const [sent, key] = [stored(fields), segments[4]];
    const people: shape.Row[] = participants.map(stored);
    const room = "waiting_rooms where slug = ?2 and retired_at is null";
    const organization = `coalesce((select organization_id from calls where key = ?1), (select organization_id from ${room}))`;
    const found = {
      sql: `json_object('known', ${jsonOf(CALL, "calls where key = ?1")}, 'room', ${jsonOf("id, organization_id", room)},
        'people', json((select json_group_array(${jsonObject(PARTICIPANT)}) from participants
          where organization_id = ${organization} and key in (select value from json_each(?3)))))`,
      values: [key, waiting_room_slug, JSON.stringify(people.map((each) => each.key))],
    };
    let row: shape.Row = {};
    const [[written] = []] = await report(request, found, (state) => {
      const { known, room } = state;
      row = {
        organization_id: room?.organization_id,
        waiting_room_id: room?.id,
        ...known,
        ...sent,
        key,
        ended_at: sent.ended_at ?? known?.ended_at ?? null,
        failed: Number(sent.failed ?? known?.failed ?? 0),
        legal_hold: Number(sent.legal_hold ?? known?.legal_hold ?? 0),
      };
      return callWrites(known && { ...known, key }, row, people, state.people, now);
    });
    row = { ...row, ...written };
    return { body: { ...shape.call(row), key, legal_hold: Boolean(row.legal_hold) } };
  },
};

/** The call, those participants that are new or differ, and the end of the stay of those that the report left out. */
function callWrites(
  known: shape.Row | null,
  call: shape.Row,
  reported: shape.Row[],
  knownPeople: shape.Row[],
  now: number,
): Bound[] {
  const changed = reported.flatMap((sent) => {
    const before = knownPeople.find(({ key }) => key === sent.key) ?? null;
    if (before && before.call_id !== null && before.call_id !== known?.id) throw new Error("On another call");
    const after = merge(before, sent, sent.joined_at > before?.left_at);
    Object.assign(after, { waiting_room_id: call.waiting_room_id, call_id: known?.id ?? null });
    if (after.recording_consent != null) after.recording_consent = Number(after.recording_consent);
    if (call.ended_at !== null)
      after.left_at ??= Math.max(call.ended_at, after.joined_at ?? 0, after.waiting_since ?? 0);
    const isSame = before && known && Object.keys(after).every((name) => after[name] === before[name]);
    return isSame ? [] : [after];
  });
  const ends = call.ended_at !== null && known?.ended_at !== call.ended_at;
  const isNewOrDiffers = save("calls", known, call, now);
  return [
    ...(isNewOrDiffers ? [isNewOrDiffers] : []),
    ...(changed.length > 0 ? [savePeople(call, changed, now)] : []),
    ...(ends && known
      ? [
          [
            `update participants set left_at = max(?1, coalesce(joined_at, 0), coalesce(waiting_since, 0)), updated_at = ?2
            where call_id = ?3 and left_at is null`,
            call.ended_at,
            now,
            known.id,
          ] satisfies Bound,
        ]
      : []),
  ];
}

const FIELDS = "user_id, display_name, role, waiting_since, joined_at, left_at, recording_consent".split(
  ", ",
);

const TAKEN_OVER = ["waiting_room_id", "call_id", "updated_at", ...FIELDS];

const SAVE_PEOPLE = `insert into participants (organization_id, key, waiting_room_id, call_id, created_at, updated_at,
    ${FIELDS})
  select ?1, value ->> 'key', ?2, (select id from calls where key = ?3), ?4, ?4, ${FIELDS.map((name) => `value ->> '${name}'`)}
  from json_each(?5) where true
  on conflict (organization_id, key) do update set ${TAKEN_OVER.map((name) => `${name} = excluded.${name}`)}`;

const savePeople = (call: shape.Row, people: shape.Row[], now: number): Bound => [
  SAVE_PEOPLE,
  call.organization_id,
  call.waiting_room_id,
  call.key,
  now,
  JSON.stringify(people),
];
