import type { NewRow } from "../../database/insert.ts";
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
