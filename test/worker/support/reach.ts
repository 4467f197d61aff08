import { expect } from "vitest";
import { aCall, type Call } from "./calls.ts";
import { expectRefusal } from "./expectations.ts";
import { anOrganization, given } from "./organization.ts";

/** A clinic with a person of every role, and for each of them an API client and a call with every kind of result. */
export async function aClinicOfEveryRole() {
  const clinic = await anOrganization();
  const paula = await clinic.addProvider("Paula Provider");
  const assist = (name: string, roles: string[], assists: number[]) =>
    clinic.addUser(name, ["provider_assistant", ...roles], { assists });
  const people = {
    admin: clinic.admin,
    paula,
    peter: await clinic.addProvider("Peter Provider"),
    assistantOfPaula: await assist("Al", [], [paula.id]),
    assistantOfNobody: await assist("Bo", [], []),
    providerWhoAssistsPaula: await assist("Cy", ["provider"], [paula.id]),
    adminWhoProvides: await clinic.addUser("Di", ["provider", "organization_admin"]),
  };
  const members = [];
  for (const [name, person] of Object.entries(people)) {
    const { call, egress } = await aCallWithResults(clinic, person);
    members.push({ name, call, egress, client: await clinic.addClient(person.id) });
  }
  return { clinic, members };
}

export type Member = Awaited<ReturnType<typeof aClinicOfEveryRole>>["members"][number];

/** A call with a transcript, a SOAP note and a recording. */
export async function aCallWithResults(clinic: Parameters<typeof aCall>[0], owner?: { id: number }) {
  const call = await aCall(clinic, {}, owner);
  const egress: { id: number } = await call.addEgress();
  await given(call.reportTranscript({ is_final: false, lines: [] }));
  await given(call.reportSoapNote({ is_final: false, text: "Subjective: well." }));
  return { call, egress };
}

const fillIn = (tail: string, call: Call, egress: { id: number }) =>
  tail.replace("CALL", String(call.id)).replace("EGRESS", String(egress.id));

/** @param tail a path below an organization user; CALL and EGRESS stand for ids */
export async function expectReach(members: Member[], tail: string) {
  const reach: Record<string, string[]> = {};
  for (const { name: caller, client } of members) {
    const reached: string[] = [];
    for (const { name, call, egress } of members) {
      const answer = await client.get(`/organization_users/${call.owner.id}${fillIn(tail, call, egress)}`);
      if (answer.status === 200) reached.push(name);
      else expectRefusal(answer, 404);
    }
    reach[caller] = reached;
  }
  const everybody = members.map(({ name }) => name);
  expect(reach).toEqual({
    admin: everybody,
    paula: ["paula"],
    peter: ["peter"],
    assistantOfPaula: ["paula", "assistantOfPaula"],
    assistantOfNobody: ["assistantOfNobody"],
    providerWhoAssistsPaula: ["paula", "providerWhoAssistsPaula"],
    adminWhoProvides: everybody,
  });
}
