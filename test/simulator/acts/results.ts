import type { Clinic } from "../clinic.ts";
import { type Act, anEndedCall, pick, resultsOf } from "./act.ts";

async function read(clinic: Clinic, text: "transcript" | "soap_note") {
  const call = anEndedCall(clinic);
  if (!call) return;
  const outcome = await clinic.client("GET", `${resultsOf(call)}/${text}`);
  if (outcome?.status !== 200) return;
  clinic.shown.add(`${text} ${call.id}`);
  const deletedAt = call.deletedAt[text];
  if (deletedAt !== undefined && outcome.sentAt > deletedAt)
    clinic.world.violation(`The ${text} of ${call.key} came back after it was deleted`);
}

async function deleteText(clinic: Clinic, text: "transcript" | "soap_note") {
  // Deleting a text that was never reported does not prevent its first report.
  const call = pick(clinic, clinic.calls, ({ isEnded, reported }) => isEnded && reported.has(text));
  if (!call || clinic.world.chance.is(0.6)) return;
  const outcome = await clinic.client("DELETE", `${resultsOf(call)}/${text}`);
  if (outcome?.status === 204) call.deletedAt[text] = clinic.world.schedule.steps;
}

/** The acts by which an organization works with results of calls. */
export const resultActs: Record<string, Act> = {
  async "holds a call"(clinic) {
    const call = anEndedCall(clinic);
    if (!call) return;
    await clinic.client("PUT", `${resultsOf(call)}/legal_hold`, { legal_hold: { reason: "Case 1" } });
    await clinic.client("DELETE", `${resultsOf(call)}/legal_hold`);
  },
  "reads a transcript": (clinic) => read(clinic, "transcript"),
  "reads a SOAP note": (clinic) => read(clinic, "soap_note"),
  "deletes a transcript": (clinic) => deleteText(clinic, "transcript"),
  "deletes a SOAP note": (clinic) => deleteText(clinic, "soap_note"),
  async "corrects a SOAP note"(clinic) {
    const call = anEndedCall(clinic);
    const soap_note = { text: clinic.unique("Plan"), reason: "Misheard" };
    if (call) await clinic.client("PUT", `${resultsOf(call)}/soap_note`, { soap_note });
  },
  async "asks for recordings"(clinic) {
    const call = anEndedCall(clinic);
    if (!call) return;
    const list = await clinic.client("GET", `${resultsOf(call)}/egresses`);
    for (const { id } of list?.body.egresses ?? []) {
      const outcome = await clinic.client("GET", `${resultsOf(call)}/egresses/${id}`);
      if (outcome?.status !== 200) continue;
      clinic.shown.add(`egress ${call.id}`);
      if (outcome.body.url && call.refusedAt !== undefined && outcome.sentAt > call.refusedAt)
        clinic.world.violation(`A recording of the call ${call.key} was offered after a refusal`);
    }
  },
};
