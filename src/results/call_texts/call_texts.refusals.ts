import { unprocessable } from "../../http/errors.ts";

/** The errors that reports of both kinds share. `required` names the fields that the first report needs. */
export const refusalsOfReports = (text: string, required: string) => ({
  isIncomplete: () =>
    unprocessable("first_report_incomplete", `${required} are required in the first report`),
  wasDeleted: () => unprocessable("text_deleted", `The ${text} was deleted: it cannot be reported again`),
  isFinal: () => unprocessable("text_final", `The ${text} is final and cannot be changed`),
});
