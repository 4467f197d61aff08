import { callsReference } from "../../calls/calls/calls.openapi.ts";
import { type Operation, type Reference, VARY_ACCEPT } from "../../openapi/operation.ts";
import { cannotSign } from "../vcons/vcons.keys.ts";
import { fhirBundleSchema, signedVconSchema, vconSchema } from "./call_records.responses.ts";
import { FHIR, VCON, VCON_JWS } from "./call_records.schemas.ts";

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
