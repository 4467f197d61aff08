import { ONE_CALL } from "../../calls/calls/calls.routes.ts";
import { callParams, toCallDetails } from "../../calls/calls/calls.schemas.ts";
import { requireCall } from "../../calls/calls/calls.service.ts";
import { recordedReadIf } from "../../http/acting_user.ts";
import { inWantedType, wantedType } from "../../http/content_negotiation.ts";
import { externalRoutes } from "../../http/hono.ts";
import { countAnswerLength } from "../../http/rate_limits.ts";
import { readsFrom } from "../../http/replication.ts";
import { area } from "../../http/scopes.ts";
import { params } from "../../http/validation.ts";
import { fhirBundleOf } from "../fhir_bundles/fhir_bundles.ts";
import { requireSigner, vconOf } from "../vcons/vcons.ts";
import * as service from "./call_records.service.ts";
import { listEntries } from "./call_records.sql.ts";

const JSON_TYPE = "application/json";

/** JSON shows no names, so its read is not recorded. */
const recordedForm = recordedReadIf(
  (c) => wantedType(c, [JSON_TYPE, service.FHIR, service.VCON, service.VCON_JWS]) !== JSON_TYPE,
);

export const callRecordsExternal = externalRoutes().get(
  ONE_CALL,
  area("calls"),
  // The number of recordings depends on consent.
  readsFrom("primary"),
  params(callParams),
  recordedForm,
  (c) => {
    const { context } = c.var;
    const path = c.req.valid("param");
    async function answerWith(type: string, formOf: (record: service.CallRecord) => unknown) {
      const record = await service.requireCallRecord(context, path, listEntries);
      await countAnswerLength(c, context, service.lengthOfRecord(record));
      return c.body(JSON.stringify(await formOf(record)), 200, { "Content-Type": type });
    }
    return inWantedType(c, {
      [JSON_TYPE]: async () => c.json(toCallDetails(await requireCall(context, path))),
      [service.FHIR]: () => answerWith(service.FHIR, fhirBundleOf),
      [service.VCON]: () => answerWith(service.VCON, (record) => vconOf(record)),
      [service.VCON_JWS]: () => {
        const sign = requireSigner(context);
        return answerWith(service.VCON_JWS, async (record) => sign(await vconOf(record)));
      },
    });
  },
);
