import { notFound, unprocessable } from "../../http/errors.ts";

export const soapNoteNotFound = () => notFound("SOAP note");

export const soapNoteIncomplete = () =>
  unprocessable("soap_note: text and is_final are required in the first report");

export const soapNoteWasDeleted = () =>
  unprocessable("The SOAP note was deleted: it cannot be reported again");

export const soapNoteIsFinal = () => unprocessable("The SOAP note is final and cannot be changed");
