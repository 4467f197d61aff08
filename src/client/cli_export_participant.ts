import { rm, writeFile } from "node:fs/promises";
import { accessLogOf } from "./access_log_source.ts";
import { count, credentialsWith, say, settingsFor, TEXT, UsageError, valuesOf } from "./cli_support.ts";
import { connectionOf, forActingUser } from "./connection.ts";
import { exportedLines } from "./export.ts";
import { verifyVcon } from "./vcons.ts";

export const EXPORT_PARTICIPANT_USAGE: string = `Usage: npx organization-video-visit-client export-participant --url URL --reference R --output FILE

Writes everything that your organization has about a person into a new file, and checks that it is complete and correctly signed.

  --url URL         the address of the service
  --reference R     the external_reference of the person
  --output FILE     the file, which must not exist
  --acting-user ID  the person you export for, which the service records; by default export-participant

Exit status: 0 if the file is complete, 2 if the command is wrong, 3 otherwise; then there is no file.

${credentialsWith("results:read")}
`;

const OPTIONS = { url: TEXT, reference: TEXT, output: TEXT, "acting-user": TEXT };

export async function exportParticipantCommand(args: string[]): Promise<void> {
  const { url, reference, output, "acting-user": user = "export-participant" } = valuesOf(args, OPTIONS);
  const settings = settingsFor(url);
  if (!reference) throw new UsageError("--reference must be the external_reference of a person.");
  if (!output) throw new UsageError("--output must be the name of a new file.");
  const keys = await accessLogOf(settings, user).keys();
  const connection = forActingUser(connectionOf(settings), user, "PATRQT");
  const lines = exportedLines(connection, { external_reference: reference });
  let summary = "";
  async function* verified() {
    for await (const { text, line } of lines) {
      if (line.type === "call" && line.jws) await verifyVcon(line.jws, { keys });
      if (line.type === "end")
        summary = [
          count(line.calls, "call", "calls"),
          count(line.visits, "visit", "visits"),
          count(line.access_logs, "entry of the access log", "entries of the access log"),
        ].join(", ");
      yield `${text}\n`;
    }
  }
  try {
    // Only the owner can read the file.
    await writeFile(output, verified(), { flag: "wx", mode: 0o600 });
  } catch (error) {
    if ((error as { code?: string }).code !== "EEXIST") await rm(output, { force: true });
    throw error;
  }
  say(`The export is complete: ${summary}.`);
}
