import { env } from "cloudflare:workers";
import { aCall } from "./calls.ts";
import { given, type Organization, unique } from "./organization.ts";
import { fileExists, storeFile } from "./storage.ts";
import { fromNow } from "./time.ts";

const DAY = 24 * 60;

export const keep = (
  { id }: Organization,
  { recordings = null, transcripts = null }: { recordings?: number | null; transcripts?: number | null },
) =>
  env.DB.prepare(
    "update organizations set recording_retention_days = ?, transcript_retention_days = ? where id = ?",
  )
    .bind(recordings, transcripts, id)
    .run();

export const count = async (query: string) =>
  Number(await env.DB.prepare(`select count(*) as n from ${query}`).first("n"));

export async function aDocumentedCall(clinic: Organization, call: object = {}, egress: object = {}) {
  const documented = await aCall(clinic, call);
  const storage_key = `${clinic.slug}/${unique("file")}.wav`;
  await storeFile(storage_key);
  const reported = await documented.addEgress({ storage_key, ...egress });
  await given(documented.reportTranscript({ is_final: true, lines: [] }));
  await given(documented.reportSoapNote({ text: "Subjective: well.", is_final: true }));
  const statusOf = async (result: string) => (await clinic.client.get(`${documented.path}/${result}`)).status;
  return {
    ...documented,
    reported,
    storage_key,
    left: async () => ({
      recording: await fileExists(storage_key),
      transcript: (await statusOf("transcript")) === 200,
      note: (await statusOf("soap_note")) === 200,
    }),
    deletions: async () => {
      const { results } = await env.DB.prepare(
        "select resource, organization_user_id, user_id from access_logs where call_id = ? and event = 'delete' order by id",
      )
        .bind(documented.id)
        .all();
      return results;
    },
  };
}

export const ALL = { recording: true, transcript: true, note: true };
export const NOTHING = { recording: false, transcript: false, note: false };

/** A call that ended this many days and minutes ago. */
export const endedAgo = (days: number, minutes = 0) => ({
  started_at: fromNow(-days * DAY - minutes - 30),
  ended_at: fromNow(-days * DAY - minutes),
});
