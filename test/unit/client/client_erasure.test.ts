import { expect, it } from "vitest";
import { aClient, refusal } from "../../support/a_client.ts";

const portion = (erased_count: number, remaining_count: number, more: object = {}) =>
  Response.json({ erased_count, held_count: 0, ongoing_count: 0, remaining_count, ...more });

it("eraseParticipant repeats its request until nothing remains, and returns the sum and the last counts", async () => {
  const { client, sent } = aClient([
    portion(200, 130),
    portion(130, 1, { ongoing_count: 1 }),
    portion(1, 0, { held_count: 2 }),
  ]);
  const erased = await client.eraseParticipant({ external_reference: "patient 1&2", texts: true });
  expect(erased).toEqual({ erased_count: 331, held_count: 2, ongoing_count: 0, remaining_count: 0 });
  expect(sent.map(({ method, url }) => `${method} ${url}`)).toEqual(
    Array(3).fill(
      "DELETE https://visits.test/api/external/participants?external_reference=patient+1%262&texts=true",
    ),
  );
});

it("eraseParticipant acts for the acting user, and stops when it is refused or its signal aborts", async () => {
  const { client, sent } = aClient([portion(200, 1), refusal(403, "No")]);
  const person = { external_reference: "patient-1" };
  const asOfficer = client.withActingUser("officer-3", "PATRQT");
  await expect(asOfficer.eraseParticipant(person)).rejects.toMatchObject({ status: 403 });
  expect(sent.map(({ headers }) => headers["X-Acting-User"])).toEqual(["officer-3", "officer-3"]);
  const controller = new AbortController();
  const endless = aClient(Array.from({ length: 9 }, () => portion(1, 1)));
  const onResponse = () => endless.sent.length === 2 && controller.abort();
  const erasing = endless.client.eraseParticipant(person, { signal: controller.signal, onResponse });
  await expect(erasing).rejects.toMatchObject({ failed: "aborted" });
  expect(endless.sent).toHaveLength(2);
});
