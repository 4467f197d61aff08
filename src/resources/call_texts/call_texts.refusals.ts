import { unprocessable } from "../../http/errors.ts";

/** What reports of both are refused for. `required` names the fields that the first report of a text needs. */
export const refusalsOfReports = (text: string, required: string) => ({
  isIncomplete: () => unprocessable(`${required} are required in the first report`),
  wasDeleted: () => unprocessable(`The ${text} was deleted: it cannot be reported again`),
  isFinal: () => unprocessable(`The ${text} is final and cannot be changed`),
});
