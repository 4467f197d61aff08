import { env } from "cloudflare:workers";
import { beforeAll, expect, it } from "vitest";
import { APPEND_ONLY } from "../../../src/database/append_only.ts";
import { aCall } from "../support/calls.ts";
import { anOrganization, given, type Organization } from "../support/organization.ts";
import { aSealedDay } from "../support/seals.ts";
import { changingNothing } from "../support/unchanged.ts";

let clinic: Organization;

/** Creates rows in every append-only table. */
beforeAll(async () => {
  clinic = await anOrganization();
  await aSealedDay(clinic);
  const call = await aCall(clinic);
  await given(call.hold());
  await call.addEgress();
});

/** A new id does not make it a new decision. */
const WITH_ANOTHER_ID = `insert or replace into consents
  select null, organization_id, participant_id, reporter, decision, decided_at, said_at, method, 0, 0 from consents
  where organization_id = ?`;

const STATEMENTS = {
  UPDATE: (table: string) => [
    `update ${table} set organization_id = 1 where organization_id = ?`,
    `update ${table} set organization_id = organization_id where organization_id = ?`,
  ],
  DELETE: (table: string) => [`delete from ${table} where organization_id = ?`],
  REPLACE: (table: string) => [
    ...(table === "consents" ? [WITH_ANOTHER_ID] : []),
    `insert or replace into ${table} select * from ${table} where organization_id = ?`,
    `insert into ${table} select * from ${table} where organization_id = ?
     on conflict do update set organization_id = 1`,
  ],
};

it.each(APPEND_ONLY)(
  "Table $table is append-only: the database refuses these kinds of statement: $refused",
  async ({ table, refused }) => {
    const { id } = clinic;
    const rows = await env.DB.prepare(`select count(*) as n from ${table} where organization_id = ?`)
      .bind(id)
      .first("n");
    expect(rows).toBeGreaterThan(0);
    await changingNothing(async () => {
      for (const statement of refused.flatMap((kind) => STATEMENTS[kind](table)))
        await expect(env.DB.prepare(statement).bind(id).run(), statement).rejects.toThrow(/never/);
    });
  },
);
