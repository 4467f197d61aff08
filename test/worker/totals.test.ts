import { expect, it } from "vitest";
import { aCall } from "./support/calls.ts";
import { expectRefusal } from "./support/expectations.ts";
import { anOrganization, given, type Organization, unique } from "./support/organization.ts";

/** How many rows a list has, in pages of two, where its total says so on each page. */
async function lengthOf({ client }: Pick<Organization, "client">, path: string) {
  const totals = new Set<number>();
  let length = 0;
  for (let page = 1, pages = 1; page <= pages; page++) {
    const separator = path.includes("?") ? "&" : "?";
    const { pagination, ...lists } = await given(client.get(`${path}${separator}per_page=2&page=${page}`));
    length += (Object.values(lists)[0] as object[]).length;
    totals.add(pagination.total_count);
    pages = pagination.total_pages;
  }
  expect([...totals]).toEqual([length]);
  return length;
}

it("The total of an organization user's calls is how many are listed when calls are reported, again, and as those of another organization user", async () => {
  const clinic = await anOrganization();
  const [paula, peter] = [await clinic.addProvider("Paula"), await clinic.addProvider("Peter")];
  const lengths = async () => [
    await lengthOf(clinic, `/organization_users/${paula.id}/calls`),
    await lengthOf(clinic, `/organization_users/${peter.id}/calls`),
  ];
  expect(await lengths()).toEqual([0, 0]);
  const call = await aCall(clinic, { ended_at: undefined }, paula);
  expect(await lengths()).toEqual([1, 0]);
  for (let n = 2; n <= 3; n++) await aCall(clinic, {}, paula);
  expect(await lengths()).toEqual([3, 0]);
  await given(call.report({ ended_at: "2026-01-31T10:30:00Z" }));
  expect(await lengths()).toEqual([3, 0]);
  await given(call.report({ organization_user_id: peter.id }));
  expect(await lengths()).toEqual([2, 1]);
  await given(call.report({ organization_user_id: peter.id }));
  expect(await lengths()).toEqual([2, 1]);
  await given(call.report({ organization_user_id: paula.id }));
  expect(await lengths()).toEqual([3, 0]);
  const other = await anOrganization("Hillside Clinic");
  expectRefusal(await call.report({ organization_user_id: other.admin.id }), 422);
  expect(await lengths()).toEqual([3, 0]);
});

it("The total of an egress's audit entries is how many are listed of all events and of each, when it is created, changed, read and reported again", async () => {
  const clinic = await anOrganization();
  const { path, addEgress } = await aCall(clinic);
  const egress_id = unique("egress");
  const report = (egress: object) => addEgress({ ended_at: undefined, ...egress }, egress_id);
  const starting = { status: "egress_starting", is_stopped: false, storage_key: undefined };
  const { id } = await report(starting);
  const other = await addEgress();
  const lengths = async (of = id) => {
    const list = `${path}/egresses/${of}/audit_logs`;
    const [all, created, updated, read] = [
      await lengthOf(clinic, list),
      await lengthOf(clinic, `${list}?event=create`),
      await lengthOf(clinic, `${list}?event=update`),
      await lengthOf(clinic, `${list}?event=read`),
    ];
    expect(created + updated + read).toBe(all);
    return { created, updated, read };
  };
  const read = () => given(clinic.client.get(`${path}/egresses/${id}`));
  expect(await lengths()).toEqual({ created: 1, updated: 0, read: 0 });
  await report({ ...starting, error: "The disk is slow" });
  expect(await lengths()).toEqual({ created: 1, updated: 1, read: 0 });
  for (let n = 1; n <= 3; n++) await read();
  expect(await lengths()).toEqual({ created: 1, updated: 1, read: 3 });
  await report({ status: "egress_ended" });
  expect(await lengths()).toEqual({ created: 1, updated: 2, read: 3 });
  await report({ status: "egress_ended" });
  expect(await lengths()).toEqual({ created: 1, updated: 2, read: 3 });
  expect(await lengths(other.id)).toEqual({ created: 1, updated: 0, read: 0 });
});
