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

/** An ended call of Paula Provider with Rita Recipient, and a function that reads its transcript through the external API. */
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

/** The bytes in which the lines of the call's transcript are stored. */
export const storedBytes = async ({ id }: { id: number }) =>
  Number(
    await env.DB.prepare("select length(lines) as n from call_texts where call_id = ?").bind(id).first("n"),
  );
