import type { NewRow } from "../../database/insert.ts";
import { unprocessable } from "../../http/errors.ts";
import type { CallText } from "./call_texts.sql.ts";
import type { callTexts } from "./call_texts.table.ts";

export type TextRow = CallText | NewRow<typeof callTexts>;

/** The columns of a new text that its first report may not set. */
export const EMPTY_TEXT = {
  text: null,
  summary: null,
  lines_digest: null,
  first_line_id: null,
  spoken_until: null,
  corrections: 0,
  replaced_size: 0,
  call_ended_at: null,
  is_held: false,
  lines: null,
};

/** The errors that reports of both kinds share. `required` names the fields that the first report needs. */
export const refusalsOfReports = (text: string, required: string) => ({
  isIncomplete: () =>
    unprocessable("first_report_incomplete", `${required} are required in the first report`),
  wasDeleted: () => unprocessable("text_deleted", `The ${text} was deleted: it cannot be reported again`),
  isFinal: () =>
    unprocessable(
      "text_final",
      `The ${text} is final and cannot be changed by a report: correct it in the external API`,
    ),
});
