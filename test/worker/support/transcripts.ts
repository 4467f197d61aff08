import { env } from "cloudflare:workers";
import { aCall } from "./calls.ts";
import { anOrganization, given } from "./organization.ts";

/** A transcript line of a participant. */
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

export async function aDraft() {
  const scene = await aCallToTranscribe();
  const draft = { summary: "A greeting.", is_final: false, lines: [says(scene.paula, 0, 1.5)] };
  return { ...scene, draft, reported: await given(scene.call.reportTranscript(draft)) };
}

export interface TranscriptBody {
  id: number;
  transcript_lines: { id: number; text: string; start_time: number; end_time: number }[];
}

export const texts = ({ transcript_lines }: TranscriptBody) => transcript_lines.map(({ text }) => text);

export const ids = ({ transcript_lines }: TranscriptBody) => transcript_lines.map(({ id }) => id);

/** The size of the stored transcript lines of a call, in bytes. */
export const storedBytes = async ({ id }: { id: number }) =>
  Number(
    await env.DB.prepare("select length(lines) as n from call_texts where call_id = ?").bind(id).first("n"),
  );
