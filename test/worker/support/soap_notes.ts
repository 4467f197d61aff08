import { aCall } from "./calls.ts";
import { anOrganization } from "./organization.ts";

export const SOAP_TEXT = "Subjective: a cough.\nObjective: 37.2 °C.\n\nAssessment: a cold.\n  Plan: rest. ";

/** An ended call, and a function that reads its SOAP note through the external API. */
export async function aCallToNote() {
  const clinic = await anOrganization();
  const call = await aCall(clinic);
  return { clinic, call, read: () => clinic.client.get(`${call.path}/soap_note`) };
}
