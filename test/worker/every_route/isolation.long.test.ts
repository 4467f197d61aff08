import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { aCall } from "../support/calls.ts";
import { anOrganization, given, type Organization } from "../support/organization.ts";
import { aSealedDay } from "../support/seals.ts";

/* The model compares the other lists of two organizations. These have no pages of their own, or only ids. */

async function fill(clinic: Organization, writes: number) {
  const date = await aSealedDay(clinic);
  await env.DB.prepare("insert into organization_days (organization_id, date, writes) values (?, ?, ?)")
    .bind(clinic.id, date, writes)
    .run();
  await aCall(clinic, { external_reference: "visit-1" });
}

const LISTS: Record<string, ({ client, platform }: Organization) => Promise<Record<string, object[]>>> = {
  events: ({ client }) => given(client.get("/events?type=call.ended")),
  // Only creations, because each read of the list appears in the next response.
  access_logs: ({ client }) => given(client.get("/access_logs?event=create&per_page=100")),
  access_log_seals: ({ client }) => given(client.get("/access_log_seals")),
  // Only days that are over, because the requests of the test are counted.
  usage: ({ client }) => given(client.get("/usage?to=1990-01-31")),
  "the platform's usage": ({ platform }) => given(platform.get("/usage?to=1990-01-31")),
};

it.each(Object.entries(LISTS))(
  "A list is unaffected by another organization's rows, and shows nothing to that organization: %s",
  async (_, read) => {
    const [ours, theirs] = [await anOrganization(), await anOrganization()];
    const rowsOf = async (clinic: Organization) => Object.values(await read(clinic)).find(Array.isArray);
    await fill(ours, 1);
    const before = await rowsOf(ours);
    await fill(theirs, 2);
    expect(await rowsOf(ours)).toEqual(before);
    const others = await rowsOf(theirs);
    expect([before?.length, others?.length]).not.toContain(0);
    for (const row of others ?? []) expect(before).not.toContainEqual(row);
  },
);
