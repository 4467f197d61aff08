import { env } from "cloudflare:workers";
import { beforeAll, expect, it } from "vitest";
import { METRICS_QUARTER } from "../../../src/limits.ts";
import { aClinic } from "../support/call_metrics.ts";
import { aRecipient, reportCall } from "../support/calls.ts";
import { given, unique } from "../support/organization.ts";
import { countingRows, insertMany } from "../support/rows.ts";

const SIZE = 200_000;
const DAYS = 100;

/** The time of the call or visit `n`: the days in turn, and on each day eight quarter hours in turn. */
const AT = `(n % ${DAYS} * 96 + n / ${DAYS} % 8 * 12) * ${METRICS_QUARTER}`;

/** With its event, and what follows the end in other tables; four of them are rows of metrics. */
const MAX_WRITTEN = 20;

/** A clinic with this many calls, and a tenth of it visits. */
async function aClinicOf(size: number) {
  const { clinic, provider, room } = await aClinic();
  await given(clinic.client.put("/organization", { organization: { time_zone: "Asia/Kathmandu" } }));
  const ids = [clinic.id, room.id, provider.id];
  await insertMany(
    size,
    `insert into calls (organization_id, key, waiting_room_id, organization_user_id, started_at, ended_at, created_at, updated_at)
     select ?1, 'call-' || n, ?2, ?3, ${AT}, ${AT} + 60000, 1, 1 from counter`,
    ...ids,
  );
  await insertMany(
    size / 10,
    `insert into visits (organization_id, waiting_room_id, organization_user_id, status, starts_at, ends_at, last_participant_id,
       created_at, updated_at)
     select ?1, ?2, ?3, 'ended', ${AT}, ${AT} + 60000, 1, 1, 1 from counter`,
    ...ids,
  );
  await env.DB.prepare("delete from events where organization_id = ?").bind(clinic.id).run();
  return { clinic, provider, room };
}

let clinics: Awaited<ReturnType<typeof aClinicOf>>[];

beforeAll(async () => {
  clinics = [await aClinicOf(2000), await aClinicOf(SIZE)];
}, 600_000);

it.each(["/call_metrics", "/visit_metrics"])(
  "GET %s reads the same rows at 200,000 calls and 20,000 visits as at 2,000 and 200, a row for each day, in every form",
  async (path) => {
    for (const days of ["", "&days=local"])
      for (const isOfUser of [false, true])
        for (const isOfRoom of [false, true]) {
          const rows = [];
          for (const { clinic, provider, room } of clinics) {
            const counting = countingRows();
            const client = clinic.client.through(counting.fetcher);
            await given(client.get("/roles"));
            const user = isOfUser ? `&user_id=${provider.user_id}` : "";
            const filter = user + (isOfRoom ? `&waiting_room_id=${room.id}` : "");
            const range = "date_start=1970-01-11&date_end=1970-03-31";
            const { result, rows_read } = await counting.during(() =>
              given(client.get(`${path}?${range}${days}${filter}`)),
            );
            expect(Object.keys(Object.values(result as object)[0])).toHaveLength(80);
            rows.push(rows_read);
          }
          expect(rows[0]).toBe(rows[1]);
          expect(rows[0]).toBeLessThanOrEqual(82 * 2 + 10);
        }
  },
  60_000,
);

it("The end of a call with several waiting recipients writes each row of its metrics once, and a repeated one none", async () => {
  const written: number[] = [];
  for (const { clinic, room, provider } of clinics) {
    const key = unique("call");
    const first = { waiting_room_slug: room.slug, organization_user_id: provider.id };
    const recipient = { waiting_since: "1970-01-05T09:00:00Z", joined_at: "1970-01-05T09:02:00Z" };
    const participants = Array.from({ length: 5 }, () => aRecipient(recipient));
    await given(reportCall(clinic, key, { ...first, started_at: "1970-01-05T09:02:00Z", participants }));
    const end = `update calls set organization_user_id = organization_user_id, started_at = started_at, failed = 0,
      ended_at = started_at + 60000, end_is_assumed = 0 where organization_id = ? and key = ?`;
    const writes = async () => (await env.DB.prepare(end).bind(clinic.id, key).run()).meta.rows_written;
    const [once, again] = [await writes(), await writes()];
    written.push(once, again);
  }
  const [few = 0, repeated = 0] = written;
  expect(written).toEqual([few, repeated, few, repeated]);
  expect(few - repeated).toBeLessThanOrEqual(MAX_WRITTEN);
});
