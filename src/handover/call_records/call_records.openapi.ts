import * as z from "zod";
import { callsReference } from "../../calls/calls/calls.openapi.ts";
import { type Operation, type Reference, VARY_ACCEPT } from "../../openapi/operation.ts";
import { named } from "../../openapi/schemas.ts";
import { cannotSign } from "../vcons/vcons.ts";
import { FHIR, VCON, VCON_JWS } from "./call_records.service.ts";

const fhirBundleSchema = z.looseObject({}).meta({
  id: "FhirBundle",
  description: "A call as a `Bundle` of the type `transaction`, for a FHIR R4 server.",
  example: { resourceType: "Bundle", type: "transaction", entry: [] },
});

const uuid = z.uuid().meta({
  description: "The UUID of the call's vCon. It never changes.",
  example: "019c1347-4840-812c-8f5a-2b0c7d19e6a3",
});

const vconSchema = z.looseObject({ uuid }).meta({ id: "Vcon", description: "A call as a vCon." });

const base64url = z
  .string()
  .regex(/^[A-Za-z0-9_-]+$/)
  .meta({ example: "eyJ2Y29uIjoiMC40LjAifQ" });

const signature = z.object({
  protected: base64url.describe("`alg`, `typ` and `kid`."),
  header: z.object({ uuid }).describe("Unsigned."),
  signature: base64url.describe("The signature."),
});

const signedVconSchema = named("SignedVcon", "A vCon as a JWS in General JSON Serialization.", {
  payload: base64url.describe("The vCon."),
  signatures: z.array(signature).length(1).describe("The service's signature."),
});

const GET_CALL = "GET /organization_users/:organization_user_id/calls/:call_id";

const getCall = callsReference.external?.[GET_CALL] as Operation;

/** The calls, one of which can also be read in the standard forms of other systems. */
export const callsAndFormsReference: Reference = {
  ...callsReference,
  external: {
    ...callsReference.external,
    [GET_CALL]: {
      ...getCall,
      description: `${getCall.description} If \`Accept\` prefers \`${FHIR}\` (FHIR R4), \`${VCON}\` (a preview of draft-ietf-vcon-vcon-core-04) or \`${VCON_JWS}\` (signed), the response is the whole call in that form, with names and results: see the guide to handing a visit over. The access log records these reads.`,
      headers: VARY_ACCEPT,
      alternatives: {
        [FHIR]: { schema: fhirBundleSchema },
        [VCON]: { schema: vconSchema },
        [VCON_JWS]: { schema: signedVconSchema },
      },
      errors: [...(getCall.errors ?? []), cannotSign()],
    },
  },
};
