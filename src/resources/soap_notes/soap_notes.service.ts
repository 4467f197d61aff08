import { eq, sql } from "drizzle-orm";
import type { ClientContext, Context } from "../../context.ts";
import { writeDecision } from "../../database/decisions.ts";
import { builder, namedQuery, type Placeholders, runFirst } from "../../database/queries.ts";
import { soapNotes } from "../../database/schema.ts";
import { notFound } from "../../http/errors.ts";
import type { CallPath } from "../calls/calls.schemas.ts";
import { callByKey, reachedCall } from "../calls/calls.sql.ts";
import { mergeSoapNote, type SoapNoteRecord } from "./soap_notes.merge.ts";
import type { SoapNote, SoapNoteReport } from "./soap_notes.schemas.ts";
import { soapNoteByCallKey, soapNoteColumns, soapNoteOfPath } from "./soap_notes.sql.ts";

export async function requireSoapNote({ db, caller }: ClientContext, path: CallPath): Promise<SoapNote> {
  const note = await runFirst(db, soapNoteOfPath(reachedCall(caller, path)));
  if (!note) throw notFound("SOAP note");
  return note;
}

/** Records the SOAP note of a call. */
export async function reportSoapNote(
  { db, now }: Context,
  key: string,
  report: SoapNoteReport,
): Promise<SoapNote> {
  return writeDecision(db, [callByKey({ key }), soapNoteByCallKey({ key })], ([call], [known]) => {
    if (!call) throw notFound("Call");
    const next = mergeSoapNote(known, report, now);
    if (!known) {
      const { id: call_id, organization_id } = call;
      return { writes: [insertSoapNote({ organization_id, call_id, ...next })] };
    }
    return next === known ? { unchanged: known } : { writes: [updateSoapNote({ id: known.id, ...next })] };
  });
}

const insertSoapNote = namedQuery(
  ({
    organization_id,
    call_id,
    text,
    is_final,
    created_at,
    updated_at,
  }: Placeholders<SoapNoteRecord & { organization_id: number; call_id: number }>) =>
    builder
      .insert(soapNotes)
      .values({ organization_id, call_id, text, is_final, created_at, updated_at })
      .returning(soapNoteColumns),
);

const updateSoapNote = namedQuery(
  ({ id, text, is_final, updated_at }: Placeholders<SoapNoteRecord & { id: number }>) =>
    builder
      .update(soapNotes)
      .set({ text: sql`${text}`, is_final: sql`${is_final}`, updated_at: sql`${updated_at}` })
      .where(eq(soapNotes.id, id))
      .returning(soapNoteColumns),
);
