/** An organization for measurements. */

import { DAY } from "../../src/units.ts";
import { openClinic } from "../project/support/clinic_in_node.ts";
import { bindings } from "../project/support/worker_in_node.ts";
import { aProvider, type Clinic } from "../support/clinic.ts";
import { growCalls, type Run } from "../support/grown.ts";
import { anEndedCall, anEndedEgress, aSoapNote, aTranscript, reported } from "../support/reports.ts";
import { spokenLines } from "../support/speech.ts";

/** The number of lines in an hour of conversation. */
export const AN_HOUR = 600;

export const dayBefore = (days: number) => new Date(Date.now() - days * DAY).toISOString().slice(0, 10);

export type BenchClinic = Awaited<ReturnType<typeof openBenchClinic>>;

/** @param size the number of visits of one provider, and of rooms */
export async function openBenchClinic(database: D1Database, size: number) {
  const clinic = await openClinic(bindings(database));
  const provider = await aProvider(clinic);
  const call = await aWholeCall(clinic, provider, AN_HOUR);
  await addRows(database, clinic, provider, size);
  return { ...clinic, provider, call };
}

/**
 * Adds rooms, and calls with all their results, spread over a year so that every date has some of them. Uses SQL, because the
 * APIs would take hours. Triggers maintain the totals and the metrics, as for any other row.
 */
async function addRows(
  database: D1Database,
  { id, slug, client }: Clinic,
  provider: { id: number; user_id: number },
  size: number,
) {
  if (size === 0) return;
  const now = Date.now();
  const { waiting_rooms } = await client("GET", "/waiting_rooms");
  const room: { id: number } = waiting_rooms.find(
    ({ user_id }: { user_id: number }) => user_id === provider.user_id,
  );
  const grown = { id, provider_id: provider.id, room_id: room.id };
  const run: Run = (statement, ...values) =>
    database
      .prepare(statement)
      .bind(...values)
      .run();
  await growCalls(run, grown, size, now, `${now} - (n % 366) * ${DAY} - n * 1000`);
  await run(
    `with recursive numbers (n) as (select 0 union all select n + 1 from numbers where n + 1 < ?)
    insert into waiting_rooms (organization_id, name, name_key, slug, theme, is_active, created_at, updated_at)
    select ?, 'Room ' || n, 'room ' || n, ? || '--seeded-' || n, 'default', true, 0, 0 from numbers`,
    ...[size, id, slug],
  );
}

/** A call with everything that a call can have: a transcript, a SOAP note and two recordings. */
export async function aWholeCall(
  clinic: Clinic,
  owner: { id: number; waiting_room_slug: string },
  lines: number,
  seed = 1,
) {
  const call = await anEndedCall(clinic, owner);
  await reported(clinic, aTranscript(call, spokenLines(call.speakers, lines, seed)));
  await reported(clinic, aSoapNote(call));
  await reported(clinic, anEndedEgress(call));
  const { result } = await reported(clinic, anEndedEgress(call));
  return { ...call, egress_id: result.id as number };
}
