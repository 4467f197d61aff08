import type { Call, Model } from "../model.ts";

/** The state of a call's results. */
export const resultsOf = (_model: Model, _call: Call) => ({
  transcript: "none",
  soap_note: "none",
  egresses: 0,
});
