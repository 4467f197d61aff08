import { notFound } from "../../http/errors.ts";
import { refusalsOfReports } from "../call_texts/call_texts.refusals.ts";

export const soapNoteNotFound = () => notFound("SOAP note");

export const soapNoteRefusals = refusalsOfReports("SOAP note", "soap_note: text and is_final");
