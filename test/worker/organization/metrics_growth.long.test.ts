import { env } from "cloudflare:workers";
import { beforeAll, expect, it } from "vitest";
import { aClinic } from "../support/call_metrics.ts";
import { aRecipient, reportCall } from "../support/calls.ts";
import { given, unique } from "../support/organization.ts";
import { countingRows, insertMany } from "../support/rows.ts";

const SIZE = 200_000;
const DAYS = 100;

/** A clinic with this many calls and visits, spread evenly over the quarter hours of the days. */
async function aClinicOf(size: number) {
  const { clinic, provider, room } = await aClinic();
  await given(clinic.client.put("/organization", { organization: { time_zone: "Asia/Kathmandu" } }));
  const starts_at = `(n % (${DAYS} * 96)) * 900000`;
  const ids = [clinic.id, room.id, provider.id];
  await insertMany(
    size,
    `insert into calls (organization_id, key, waiting_room_id, organization_user_id, started_at, ended_at, created_at, updated_at)
     select ?1, 'call-' || n, ?2, ?3, n % ${DAYS} * 86400000 + n % 96 * 900000, n % ${DAYS} * 86400000 + n % 96 * 900000 + 60000, 1, 1
     from counter`,
    ...ids,
  );
  await insertMany(
    size,
    `insert into visits (organization_id, waiting_room_id, organization_user_id, status, starts_at, ends_at, last_participant_id,
       created_at, updated_at)
     select ?1, ?2, ?3, 'ended', n % ${DAYS} * 86400000 + n % 96 * 900000, ${starts_at} + 1, 1, 1, 1 from counter`,
    ...ids,
  );
  await env.DB.prepare("delete from events where organization_id = ?").bind(clinic.id).run();
  return { clinic, provider, room };
}

let clinics: Awaited<ReturnType<typeof aClinicOf>>[];

beforeAll(async () => {
  clinics = [await aClinicOf(200), await aClinicOf(SIZE)];
}, 300_000);

it.each(["/call_metrics", "/visit_metrics"])(
  "GET %s reads the same rows at 200,000 as at 200, a row for each day, in every form",
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

it("the end of a call writes the rows of its metrics once, and a report without news none", async () => {
  for (const { clinic, room, provider } of clinics) {
    const key = unique("call");
    const first = { waiting_room_slug: room.slug, organization_user_id: provider.id };
    const participants = [
      aRecipient({ waiting_since: "1970-01-05T09:00:00Z", joined_at: "1970-01-05T09:02:00Z" }),
    ];
    const start = { ...first, started_at: "1970-01-05T09:02:00Z", participants };
    await given(reportCall(clinic, key, start));
    const total = "select total_changes() as changes";
    const end =
      "update calls set ended_at = started_at + 60000, failed = 0 where organization_id = ? and key = ?";
    const [before, , after] = await env.DB.batch<{ changes: number }>([
      env.DB.prepare(total),
      env.DB.prepare(end).bind(clinic.id, key),
      env.DB.prepare(total),
    ]);
    const changes = (after?.results[0]?.changes ?? 0) - (before?.results[0]?.changes ?? 0);
    expect(changes).toBeLessThanOrEqual(10);
  }
});
