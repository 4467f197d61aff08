import { env } from "cloudflare:workers";
import { aCall } from "./calls.ts";
import { anOrganization } from "./organization.ts";

/** A line of a person on the call. */
export const says = (
  speaker: { key: string },
  start_time: number,
  end_time: number,
  text = "Good morning.",
) => ({ participant_key: speaker.key, text, start_time, end_time });

/** An ended call of Paula Provider with Rita Recipient, and a function that reads its transcript through the external door. */
export async function aCallToTranscribe() {
  const clinic = await anOrganization();
  const call = await aCall(clinic);
  const [paula, rita] = call.participants;
  return { clinic, call, paula, rita, read: () => clinic.client.get(`${call.path}/transcript`) };
}

export interface TranscriptBody {
  id: number;
  transcript_lines: { id: number; text: string; start_time: number; end_time: number }[];
}

/** The texts in the order of the transcript. */
export const texts = ({ transcript_lines }: TranscriptBody) => transcript_lines.map(({ text }) => text);

export const ids = ({ transcript_lines }: TranscriptBody) => transcript_lines.map(({ id }) => id);

/** Stores a reported transcript as versions of the service did that kept each line in a row of its own. */
export async function storeAsRows(
  call: { id: number },
  { id, transcript_lines }: TranscriptBody,
  lines: { participant_key: string }[],
) {
  // In portions, since D1 takes at most 2 MB in a value; and backwards, since the order of rows says nothing.
  const rows = transcript_lines
    .map(({ id, text, start_time, end_time }, n) => ({
      ...{ id, text, start_time, end_time },
      key: lines[n]?.participant_key,
    }))
    .reverse();
  const portions = Array.from({ length: Math.ceil(rows.length / 100) }, (_, n) =>
    rows.slice(100 * n, 100 * (n + 1)),
  );
  await env.DB.batch([
    env.DB.prepare("delete from transcript_parts where call_id = ?").bind(call.id),
    env.DB.prepare("update transcripts set first_line_id = null where call_id = ?").bind(call.id),
    ...portions.map((portion) =>
      env.DB.prepare(
        `insert into transcript_lines (id, organization_id, transcript_id, participant_id, text, start_time, end_time)
         select value ->> 'id', organization_id, ?1, participants.id, value ->> 'text', value ->> 'start_time',
           value ->> 'end_time'
         from json_each(?2) join participants on participants.call_id = ?3 and participants.key = value ->> 'key'`,
      ).bind(id, JSON.stringify(portion), call.id),
    ),
  ]);
}

/** How many rows of a table are of the call's transcript. */
export const storedRows = async (table: "transcript_parts" | "transcript_lines", { id }: { id: number }) =>
  Number(
    await env.DB.prepare(
      table === "transcript_parts"
        ? "select count(*) as n from transcript_parts where call_id = ?"
        : "select count(*) as n from transcript_lines where transcript_id in (select id from transcripts where call_id = ?)",
    )
      .bind(id)
      .first("n"),
  );
