import { reviseRecord } from "../../database/merging.ts";
import { unprocessable } from "../../http/errors.ts";
import type { SoapNote, SoapNoteReport } from "./soap_notes.schemas.ts";

/** What reports say of a SOAP note, and when. */
export type SoapNoteRecord = Pick<SoapNote, "text" | "is_final" | "created_at" | "updated_at">;

/**
 * The SOAP note after a report: a field that is left out stays as it is. A final note never changes.
 *
 * @returns the known note itself where nothing changes
 * @throws ApiError 422 if the first report is not complete, or a final note would change
 */
export function mergeSoapNote(
  known: SoapNoteRecord | undefined,
  report: SoapNoteReport,
  now: number,
): SoapNoteRecord {
  const { text = known?.text, is_final = known?.is_final } = report;
  if (text === undefined || is_final === undefined)
    throw unprocessable("soap_note: text and is_final are required in the first report");
  const next = reviseRecord(known, { text, is_final }, now);
  if (known?.is_final && next !== known) throw unprocessable("The SOAP note is final and cannot be changed");
  return next;
}
