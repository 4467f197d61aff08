import * as z from "zod";
import { multilineText } from "../../http/wire.ts";
import { MAX_NOTE_LENGTH } from "../../limits.ts";
import { type ReportOrigin, reportBody } from "../../rooms/report.ts";
import type { CallText } from "../call_texts/call_texts.sql.ts";
import type { soapNoteSchema } from "./soap_notes.responses.ts";

export const reportSoapNoteBody = () =>
  reportBody({
    soap_note: z.object({ text: multilineText(MAX_NOTE_LENGTH), is_final: z.boolean() }).partial(),
  });

export type SoapNoteReport = z.output<ReturnType<typeof reportSoapNoteBody>>["soap_note"] & ReportOrigin;

export type SoapNote = CallText & { text: string };

export const toSoapNote = (row: SoapNote): z.input<typeof soapNoteSchema> => ({
  id: row.id,
  text: row.text,
  is_final: row.is_final,
});
