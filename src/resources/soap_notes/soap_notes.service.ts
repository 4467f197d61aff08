import { eq, sql } from "drizzle-orm";
import type * as z from "zod";
import type { ClientContext, Context } from "../../context.ts";
import { insertFrom } from "../../database/legacy_insert.ts";
import { writeUnderRules } from "../../database/legacy_rules.ts";
import { conditionsOn, inputOf, kept } from "../../database/report.ts";
import { calls, soapNotes } from "../../database/schema.ts";
import { takeOverChanges } from "../../database/upsert.ts";
import { notFound, unprocessable } from "../../http/errors.ts";
import type { CallPath } from "../calls/calls.schemas.ts";
import { callMissing, callWithinReach } from "../calls/legacy.ts";
import type { reportSoapNoteBody, SoapNote } from "./soap_notes.schemas.ts";

const shown = { id: soapNotes.id, text: soapNotes.text, is_final: soapNotes.is_final };

export async function requireSoapNote({ db, caller }: ClientContext, path: CallPath): Promise<SoapNote> {
  const note = await db
    .select(shown)
    .from(soapNotes)
    .where(
      sql`${soapNotes.call_id} = (select ${calls.id} from ${calls} where ${callWithinReach(caller, path)})`,
    )
    .get();
  if (!note) throw notFound("SOAP note");
  return note;
}

/**
 * Records the SOAP note of a call. A final one changes no more.
 *
 * @throws ApiError 422 where a final one would be changed
 */
export async function reportSoapNote(
  { db, now }: Context,
  key: string,
  input: z.output<typeof reportSoapNoteBody>["soap_note"],
): Promise<SoapNote> {
  const json = sql`input.report`;
  const report = sql`(
    select call.organization_id, call.id as call_id,
      known.is_final and (known.text, known.is_final) is not
        (${kept(json, "text")}, ${kept(json, "is_final")}) as changes_final,
      ${kept(json, "text")} as text, ${kept(json, "is_final")} as is_final
    from ${inputOf(input)}
    join calls call on call.key = ${key}
    left join soap_notes known on known.call_id = call.id)`;
  const reported = conditionsOn(report);

  return writeUnderRules(
    db,
    [
      callMissing(key),
      {
        broken: reported(sql`text is null or is_final is null`),
        error: unprocessable("soap_note: text and is_final are required in the first report"),
      },
      {
        broken: reported(sql`changes_final`),
        error: unprocessable("The SOAP note is final and changes no more"),
      },
    ],
    [
      insertFrom(
        db,
        soapNotes,
        sql`from ${report} where true`,
        ["organization_id", "call_id", "text", "is_final"],
        { created_at: now, updated_at: now },
      ).onConflictDoUpdate(takeOverChanges(soapNotes, [soapNotes.call_id], ["text", "is_final"])),
      db
        .select(shown)
        .from(soapNotes)
        .where(eq(soapNotes.call_id, sql`(select id from calls where key = ${key})`)),
    ],
  );
}
