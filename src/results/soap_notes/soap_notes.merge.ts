import type { Call } from "../../calls/calls/calls.schemas.ts";
import { notFound } from "../../http/errors.ts";
import { isLate, reviseReported } from "../../rooms/report.ts";
import { EMPTY_TEXT, refusalsOfReports, type TextRow } from "../call_texts/call_texts.merge.ts";
import type { SoapNote, SoapNoteReport } from "./soap_notes.schemas.ts";

interface KnownSoapNote {
  call: Pick<Call, "id" | "organization_id" | "soap_note_deleted_at">;
  note: SoapNote | undefined;
}

/**
 * The SOAP note after a report: omitted fields stay. A final note never changes, and a late draft changes nothing.
 *
 * @throws ApiError 422 if the note was deleted, the first report is incomplete, or a final note would change
 */
export function mergeSoapNote({ call, note }: KnownSoapNote, report: SoapNoteReport, now: number): TextRow {
  if (call.soap_note_deleted_at !== null) throw soapNoteRefusals.wasDeleted();
  if (note && isLate(report, note) && !report.is_final) return note;
  const { text = note?.text, is_final = note?.is_final } = report;
  if (text === undefined || is_final === undefined) throw soapNoteRefusals.isIncomplete();
  const { id: call_id, organization_id } = call;
  const kind = "soap_note" as const;
  const fields = { ...(note ?? EMPTY_TEXT), organization_id, call_id, kind, text, is_final };
  const next = reviseReported(note, fields, report, now);
  if (note?.is_final && (text !== note.text || !is_final)) throw soapNoteRefusals.isFinal();
  return next;
}

export const soapNoteNotFound = () => notFound("SOAP note");

export const soapNoteRefusals = refusalsOfReports("SOAP note", "soap_note: text and is_final");
