import { asc, eq, type SQL, sql } from "drizzle-orm";
import type * as z from "zod";
import type { ClientContext, Context } from "../../context.ts";
import type { Database } from "../../database/database.ts";
import { digest } from "../../database/digest.ts";
import { insertFrom } from "../../database/legacy_insert.ts";
import { type Statement, writeUnderRules } from "../../database/legacy_rules.ts";
import { conditionsOn, inputOf, kept } from "../../database/report.ts";
import { calls, participants, transcriptLines, transcripts } from "../../database/schema.ts";
import { takeOverChanges } from "../../database/upsert.ts";
import { notFound, unprocessable } from "../../http/errors.ts";
import { TRANSCRIPT_PORTION } from "../../limits.ts";
import type { CallPath } from "../calls/calls.schemas.ts";
import { callMissing, callWithinReach } from "../calls/legacy.ts";
import type { ReportedLine, reportTranscriptBody, Transcript } from "./transcripts.schemas.ts";

export async function requireTranscript({ db, caller }: ClientContext, path: CallPath): Promise<Transcript> {
  return readTranscript(db, sql`(select ${calls.id} from ${calls} where ${callWithinReach(caller, path)})`);
}

/**
 * Records the transcript of a call. Lines, where given, replace those before. A final transcript changes no more.
 *
 * @throws ApiError 422 where a final one would be changed
 */
export async function reportTranscript(
  { db, now }: Context,
  key: string,
  { lines, ...input }: z.output<typeof reportTranscriptBody>["transcript"],
): Promise<Transcript> {
  const call = sql`(select id from calls where key = ${key})`;
  const lines_digest = lines && (await digest(JSON.stringify(lines)));
  const json = sql`input.report`;
  const report = sql`(
    select call.organization_id, call.id as call_id,
      known.is_final and (known.summary, known.is_final, known.lines_digest) is not
        (${kept(json, "summary")}, ${kept(json, "is_final")}, ${kept(json, "lines_digest")}) as changes_final,
      ${kept(json, "summary")} as summary, ${kept(json, "is_final")} as is_final,
      ${kept(json, "lines_digest")} as lines_digest
    from ${inputOf({ ...input, lines_digest })}
    join calls call on call.key = ${key}
    left join transcripts known on known.call_id = call.id)`;
  const reported = conditionsOn(report);
  const speakers = JSON.stringify([...new Set(lines?.map((line) => line.participant_key))]);

  await writeUnderRules(
    db,
    [
      callMissing(key),
      {
        broken: reported(sql`is_final is null or lines_digest is null`),
        error: unprocessable("transcript: is_final and lines are required in the first report"),
      },
      {
        broken: sql`exists (
          select 1 from json_each(${speakers}) speaker where not exists (
            select 1 from participants where call_id = ${call} and key = speaker.value))`,
        error: unprocessable("transcript.lines: a participant_key is not on the call"),
      },
      {
        broken: reported(sql`changes_final`),
        error: unprocessable("The transcript is final and changes no more"),
      },
      {
        broken: reported(sql`is_final and summary is null`),
        error: unprocessable("transcript.summary: is required in a final transcript"),
      },
    ],
    [
      ...(lines ? [deleteOtherLines(db, call, lines_digest)] : []),
      insertFrom(
        db,
        transcripts,
        sql`from ${report} where true`,
        ["organization_id", "call_id", "summary", "is_final", "lines_digest"],
        { created_at: now, updated_at: now },
      ).onConflictDoUpdate(
        takeOverChanges(transcripts, [transcripts.call_id], ["summary", "is_final", "lines_digest"]),
      ),
      ...insertLines(db, call, lines ?? []),
      db.select({ id: transcripts.id }).from(transcripts).where(eq(transcripts.call_id, call)),
    ],
  );
  return readTranscript(db, call);
}

/** The transcript of the call, with its lines in order and the name of who speaks. */
async function readTranscript(db: Database, call: SQL): Promise<Transcript> {
  const [[transcript], lines] = await db.batch([
    db
      .select({ id: transcripts.id, summary: transcripts.summary, is_final: transcripts.is_final })
      .from(transcripts)
      .where(eq(transcripts.call_id, call)),
    db
      .select({
        id: transcriptLines.id,
        text: transcriptLines.text,
        start_time: transcriptLines.start_time,
        end_time: transcriptLines.end_time,
        display_name: participants.display_name,
      })
      .from(transcriptLines)
      .innerJoin(participants, eq(participants.id, transcriptLines.participant_id))
      .where(eq(transcriptLines.transcript_id, transcriptOf(call)))
      .orderBy(asc(transcriptLines.start_time), asc(transcriptLines.end_time), asc(transcriptLines.id)),
  ]);
  if (!transcript) throw notFound("Transcript");
  return { ...transcript, lines };
}

const transcriptOf = (call: SQL) => sql<number>`(select id from transcripts where call_id = ${call})`;

/** Lines that are reported again as they are keep their rows. */
function deleteOtherLines(db: Database, call: SQL, lines_digest: string | undefined) {
  return db.delete(transcriptLines).where(
    sql`transcript_id = (
      select id from transcripts where call_id = ${call} and lines_digest is not ${lines_digest ?? null})`,
  );
}

/** In portions, each inserted only where those before it were: rows that were kept are not inserted again. */
function insertLines(db: Database, call: SQL, lines: ReportedLine[]): Statement[] {
  let inserted = 0;
  return portions(lines.map((line) => JSON.stringify(line))).map((portion) => {
    const spoken = sql`
      from json_each(${`[${portion.join(",")}]`}) line
      join participants speaker
        on speaker.call_id = ${call} and speaker.key = line.value ->> 'participant_key'
      where (select count(*) from transcript_lines where transcript_id = ${transcriptOf(call)}) = ${inserted}
      order by line.key`;
    inserted += portion.length;
    return insertFrom(db, transcriptLines, spoken, ["organization_id"], {
      transcript_id: transcriptOf(call),
      participant_id: sql`speaker.id`,
      text: sql`line.value ->> 'text'`,
      start_time: sql`line.value ->> 'start_time'`,
      end_time: sql`line.value ->> 'end_time'`,
    });
  });
}

function portions(lines: string[]): string[][] {
  const result: string[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const line of lines) {
    if (size + line.length > TRANSCRIPT_PORTION) {
      result.push([]);
      size = 0;
    }
    result.at(-1)?.push(line);
    size += line.length;
  }
  return result;
}
