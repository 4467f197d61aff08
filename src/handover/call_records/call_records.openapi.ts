import { callsReference } from "../../calls/calls/calls.openapi.ts";
import { type Operation, type Reference, VARY_ACCEPT } from "../../openapi/operation.ts";
import { cannotSign } from "./call_records.refusals.ts";
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
      description: `${getCall.description} If \`Accept\` prefers one of these types to JSON, the response is the whole call in a standard form: \`${FHIR}\` (FHIR R4), \`${VCON}\` (a preview: draft-ietf-vcon-vcon-core-04) or \`${VCON_JWS}\` (signed). The guide "Hand a visit over" says what they contain. Without \`results:read\`, they contain no texts and recordings. Errors are always JSON. The access log records only these forms: as reads of the participants, of the consents, and of each text.`,
      headers: VARY_ACCEPT,
      alternatives: {
        [FHIR]: { schema: fhirBundleSchema },
        [VCON]: { schema: vconSchema },
        [VCON_JWS]: { schema: signedVconSchema },
      },
      refusals: { 406: `\`${VCON_JWS}\` was asked for, and the service has no signing key.` },
      errors: [...(getCall.errors ?? []), cannotSign()],
    },
  },
};
