import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { BULK_INVITE_FAULTS } from "../../src/tuning.ts";
import { platform } from "./support/api.ts";
import { aCall } from "./support/calls.ts";
import { aLiveKitRoom, aLiveKitServer, anEgressId, delivered, EgressStatus } from "./support/livekit.ts";
import { observedDatabase } from "./support/observed_database.ts";
import { anInvite, anOrganization, given } from "./support/organization.ts";
import { aMessage, aQueue, WAKE_UP, workerWith } from "./support/queue.ts";
import { externalExamples, platformExamples } from "./support/routes.ts";

/*
 * SQLite takes a name in double quotes that names nothing for a text, so a misspelt column gives no error but wrong
 * rows. In backticks a name is a name: so each statement is shown to SQLite once more, with backticks, to be compiled.
 */

const TEXT_OR_NAME = /'(?:[^']|'')*'|"([^"]*)"/g;

const inBackticks = (text: string) =>
  text.replace(TEXT_OR_NAME, (all, name?: string) => (name === undefined ? all : `\`${name}\``));

/** What SQLite says of the statement; null where it names only what there is. */
async function complaint(text: string): Promise<string | null> {
  const placeholders = text.replace(TEXT_OR_NAME, "").match(/\?/g) ?? [];
  try {
    await env.DB.prepare(`explain ${inBackticks(text)}`)
      .bind(...placeholders.map(() => null))
      .all();
    return null;
  } catch (error) {
    return `${error}\nin ${text}`;
  }
}

describe("A name in a statement", () => {
  const statements = new Set<string>();
  const queue = aQueue();
  /** Invites are refused, for a reason that does not pass. */
  let isRefusing = false;
  const worker = workerWith({
    DB: observedDatabase({
      prepare: (text) => {
        statements.add(text);
        if (isRefusing && text.startsWith('insert into "invites"')) throw new Error("D1_ERROR: refused");
      },
    }),
    BULK_INVITES: queue.binding,
  });

  /** Every route is asked once, the queue's consumers and the cron do their work, and a list is filtered. */
  beforeAll(async () => {
    for (const [route, example] of Object.entries(externalExamples)) {
      const organization = await anOrganization();
      const { path, body } = await example(organization);
      const [method = ""] = route.split(" ");
      await given(organization.client.through(worker.fetcher).send(method, path, body));
    }
    for (const [route, example] of Object.entries(platformExamples)) {
      const { path, body } = await example(await anOrganization());
      const [method = ""] = route.split(" ");
      await given(platform.through(worker.fetcher).send(method, path, body));
    }
    const room = await aLiveKitRoom(await anOrganization());
    const egress_id = anEgressId();
    const ending = room.egress(egress_id, EgressStatus.EGRESS_ENDING);
    const events = [
      ending,
      room.joined("rita", 1),
      room.recorded(egress_id, 600),
      room.recorded(anEgressId(), 600),
    ];
    await delivered(events, aLiveKitServer({ fetcher: worker.fetcher }));
    const clinic = await anOrganization();
    const assistant = await clinic.addUser("Ann Assistant", ["provider_assistant"]);
    const { path, addEgress } = await aCall(clinic);
    const egress = await addEgress();
    const day = "2026-01-31";
    for (const asked of [
      `/call_metrics?user_id=${clinic.admin.user_id}`,
      `${path}/egresses/${egress.id}/audit_logs?event=read&from=${day}&to=${day}`,
    ])
      await given(clinic.client.through(worker.fetcher).get(asked));
    const { through } = await clinic.addClient(assistant.id);
    await given(through(worker.fetcher).get("/organization_users"));
    const wakeUp = () => worker.consume([aMessage(WAKE_UP)]);
    const organization_invites = [anInvite()];
    const bulkClient = clinic.client.through(worker.fetcher);
    const bulkInvite = () => given(bulkClient.post("/invites/bulk_create", { organization_invites }));
    await bulkInvite();
    await wakeUp();
    await bulkInvite();
    await aCall(clinic, { ended_at: undefined });
    await env.DB.prepare("update calls set updated_at = 0 where organization_id = ?").bind(clinic.id).run();
    await env.DB.prepare("update participants set updated_at = 0 where organization_id = ?")
      .bind(clinic.id)
      .run();
    await worker.runCron();
    isRefusing = true;
    // The first fault is counted, the last one fails the row.
    for (const faults of [0, BULK_INVITE_FAULTS]) {
      await env.DB.prepare("update bulk_invites set faults = ?, next_attempt_at = 0").bind(faults).run();
      await wakeUp();
    }
  }, 60_000);

  it("is that of a table or column that there is, in every statement of every route, queue and chore", async () => {
    const complaints = await Promise.all([...statements].map(complaint));
    expect(statements.size).toBeGreaterThan(Object.keys(externalExamples).length);
    expect(complaints.filter((each) => each !== null)).toEqual([]);
  });

  it("of the id is the last in the order of every page, so that each item is on one page", () => {
    const pages = [...statements].filter((text) => /\boffset\b/i.test(text));
    expect(pages.length).toBeGreaterThanOrEqual(5);
    const endsWithId = /order by (?:(?!order by|limit).)*"id"(?: asc| desc)? limit \? offset \?/is;
    expect(pages.filter((text) => !endsWithId.test(text))).toEqual([]);
  });

  it("of a view, trigger, index or table is not in double quotes", async () => {
    const { results } = await env.DB.prepare(
      "select name from sqlite_master where name not glob '_cf_*' and name not glob 'd1_*' and sql glob '*\"*'",
    ).all();
    expect(results).toEqual([]);
  });

  it("that is misspelt is found", async () => {
    expect(
      await complaint(`select "name" from "organizations" where "slugg" = 'The "slug"' or "id" = ?`),
    ).toMatch(/no such column: slugg/);
  });
});
