import { expect, it } from "vitest";
import { aCall, ENDED_AT } from "../worker/support/calls.ts";
import { anOrganization, given } from "../worker/support/organization.ts";

it("Other records: the call and organization user records have identifiers, and the call an is_ended flag.", async () => {
  const { client, ...clinic } = await anOrganization();
  const owner = await clinic.addProvider();
  const call = await aCall({ client, ...clinic }, { ended_at: undefined }, owner);
  expect(await given(client.get(`/organization_users/${owner.id}`))).toMatchObject({ id: owner.id });
  expect(await given(client.get(call.path))).toMatchObject({ id: call.id, is_ended: false });
  await given(call.report({ ended_at: ENDED_AT }));
  expect(await given(client.get(call.path))).toMatchObject({ id: call.id, is_ended: true });
});
