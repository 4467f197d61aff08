/** An organization to measure with. */

import { DAY } from "../../src/units.ts";
import { openClinic } from "../project/support/clinic_in_node.ts";
import { bindings } from "../project/support/worker_in_node.ts";
import { aProvider, type Clinic } from "../support/clinic.ts";
import { anEndedCall, anEndedEgress, aSoapNote, aTranscript, reported } from "../support/reports.ts";
import { spokenLines } from "../support/speech.ts";

/** The lines of an hour of conversation. */
export const AN_HOUR = 600;

export const dayBefore = (days: number) => new Date(Date.now() - days * DAY).toISOString().slice(0, 10);

export type BenchClinic = Awaited<ReturnType<typeof openBenchClinic>>;

/** @param size how many waiting rooms, invites, calls of one provider, and audit entries of one recording it has */
export async function openBenchClinic(database: D1Database, size: number) {
  const clinic = await openClinic(bindings(database));
  const provider = await aProvider(clinic);
  const call = await aWholeCall(clinic, provider, AN_HOUR);
  await addRows(database, clinic, call, size);
  return { ...clinic, provider, call };
}

/** A call with all that a call can leave behind: a transcript, a SOAP note and two recordings. */
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

/** In SQL: through the APIs it would take hours. Triggers keep the totals and the metrics, as for any other row. */
async function addRows(
  database: D1Database,
  { id, slug }: { id: number; slug: string },
  { key, egress_id }: { key: string; egress_id: number },
  size: number,
) {
  const now = Date.now();
  // D1 answers a statement in bounded time.
  for (let from = 0; from < size; from += 10_000) {
    const numbers = `with recursive numbers (n) as
      (select ${from} union all select n + 1 from numbers where n + 1 < ${Math.min(from + 10_000, size)})`;
    const statements = [
      `insert into waiting_rooms (organization_id, name, slug, theme, is_active, created_at, updated_at) ${numbers}
      select ${id}, 'Room ' || n, '${slug}--seeded-' || n, 'default', true, ${now}, ${now} from numbers`,
      `insert into invites (organization_id, created_by_user_id, email, display_name, roles, expires_at, created_at, updated_at) ${numbers}
      select ${id}, (select min(id) from organization_users where organization_id = ${id}), n || '@invitees.example', 'Ivy Invitee', '["provider"]', ${now + DAY}, ${now}, ${now} from numbers`,
      // Spread over a year, so that every date has some of them.
      `insert into calls (organization_id, key, organization_user_id, waiting_room_id, started_at, ended_at, failed,
        created_at, updated_at) ${numbers}
      select organization_id, key || '-' || n, organization_user_id, waiting_room_id, ${now} - (n % 366) * ${DAY} - n,
        ${now} - (n % 366) * ${DAY} - n + 600000, false, ${now}, ${now} from numbers, calls where key = '${key}'`,
      `insert into egress_audit_logs (organization_id, egress_id, event, user_id, created_at) ${numbers}
      select ${id}, ${egress_id}, 'read', 1, ${now} - n * 1000 from numbers`,
    ];
    await database.batch(statements.map((statement) => database.prepare(statement)));
  }
}
