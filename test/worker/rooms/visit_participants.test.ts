import { expect, it } from "vitest";
import { anOrganization, given } from "../support/organization.ts";
import { countingRows, insertMany } from "../support/rows.ts";

it("GET /waiting_rooms/{slug}/participants reads only the rows it shows, up to 500, in a room that thousands have visited", async () => {
  const clinic = await anOrganization();
  const room = await clinic.addRoom();
  const insert = (count: number, left_at: number | null, since: number) =>
    insertMany(
      count,
      `insert into recorded_participants (organization_id, key, waiting_room_id, display_name, role, waiting_since, left_at,
         created_at, updated_at)
       select ?1, ?2 || '-' || n || '-' || ?3, ?2, 'Rita', 'recipient', ?3 - n, ?4, n, n from counter`,
      ...[clinic.id, room.id, since, left_at],
    );
  await insert(3_000, 900_000, 800_000);
  await insert(600, null, 1_000_000);
  for (const member of [clinic.admin, await clinic.addUser("Al", ["provider_assistant"])]) {
    const counting = countingRows();
    const client = (await clinic.addClient(member.id)).through(counting.fetcher);
    await given(client.get("/roles"));
    const { result, rows_read } = await counting.during(() =>
      given(client.get(`/waiting_rooms/${room.slug}/participants`)),
    );
    const times = result.participants.map(({ waiting_since }: { waiting_since: string }) =>
      Date.parse(waiting_since),
    );
    expect(times).toEqual(Array.from({ length: 500 }, (_, n) => 1_000_000 - 600 + n));
    // A participant is a row and their record, and an id for the entry of the access log.
    expect(rows_read).toBeLessThanOrEqual(1520);
  }
});
