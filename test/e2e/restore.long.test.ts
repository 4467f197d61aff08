import { join } from "node:path";
import { expect, it } from "vitest";
import { PARTICIPANT_LEAP } from "../../src/dev/quiet_statements.ts";
import { done, refused } from "./support/ended.ts";
import { eventually } from "./support/eventually.ts";
import { anOrganization } from "./support/organization.ts";
import { startReceiver } from "./support/receiver.ts";
import { npmRun, startServer } from "./support/server.ts";

// test/worker/ground/quiet.test.ts tests what a quiet database does and which ids it assigns, and backup.long.test.ts
// what a backup restores.
it("npm run restore -- --after-time-travel makes a database quiet until it is resumed, and can be repeated", async () => {
  const server = await startServer({ ownData: "put-back" });
  /** Runs while the server does, as operators run it. */
  const restore = (flag: string) =>
    done(npmRun("restore", "--", "--persist-to", join(server.persistTo, "put-back"), flag));
  const { external, addUser } = await anOrganization(server.url);
  const { waiting_room_slug } = await addUser("paula", "provider");
  const rita = { role: "recipient", display_name: "Rita Recipient" };
  const { body: visit } = await external("POST", "/visits", {
    visit: { waiting_room_slug, starts_at: new Date().toISOString(), participants: [rita] },
  });
  const { url } = await startReceiver();
  const { body: made } = await external("POST", "/webhook_endpoints", { webhook_endpoint: { url } });
  const endpoint = async () => (await external("GET", `/webhook_endpoints/${made.id}`)).body;
  const expectHealth = (status: string) =>
    eventually(async () =>
      expect(await (await fetch(`${server.url}/health`)).json()).toMatchObject({ status }),
    );

  const said = [await restore("--after-time-travel"), await restore("--after-time-travel")];
  for (const each of said) expect(each).toContain("The database is quiet");
  for (const each of said) expect(each).toContain("inactive until then: 1.");
  await expectHealth("quiet");
  expect(await endpoint()).toMatchObject({ is_active: false, disabled_reason: "restored" });
  const participants = [...visit.participants.map(({ id }: { id: number }) => ({ id })), rita];
  const { body: changed } = await external("PUT", `/visits/${visit.id}`, { visit: { participants } });
  expect(changed.participants.map(({ id }: { id: number }) => id)).toEqual([1, 2 * PARTICIPANT_LEAP + 2]);
  expect(await restore("--resume")).toContain(
    "Resumed. Webhook endpoints that are active again, as in the backup: 1.",
  );
  expect(await endpoint()).toMatchObject({ is_active: true, disabled_reason: null });
  await expectHealth("ok");
  expect(await restore("--resume")).toContain("there is nothing to resume");
});

it("npm run restore refuses missing or conflicting options", async () => {
  for (const args of [[], ["--resume", "--after-time-travel"], ["--input", "x.sql", "--resume"]])
    expect(await refused(npmRun("restore", "--", ...args))).toContain("Choose one: ");
});
