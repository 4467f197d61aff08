import { verifyAccessLog } from "./access_log.ts";
import { isDate } from "./access_log_chain.ts";
import { count, credentialsWith, say, settingsFor, TEXT, UsageError, valuesOf } from "./cli_support.ts";

export const VERIFY_ACCESS_LOG_USAGE: string = `Usage: npx organization-video-visit-client verify-access-log --url URL [--from DATE] [--head DATE=SHA256]…

Checks the access log of your organization: its seals, their files, and the entries that the service lists.

  --url URL           the address of the service
  --from DATE         skips the files of days before this date; all seals are checked anyway
  --head DATE=SHA256  the digest of a seal, from an access_log.sealed event; repeat it for each digest that you kept
  --acting-user ID    the person you check for, which the service records; by default verify-access-log

Exit status: 0 if there is no fault, 1 if there is one, 2 if the command is wrong, 3 if the log could not be checked.

${credentialsWith("audit:read")}
`;

const HEADS = { ...TEXT, multiple: true, default: [] as string[] } as const;
const OPTIONS = { url: TEXT, from: TEXT, head: HEADS, "acting-user": TEXT };

export async function verifyAccessLogCommand(args: string[]): Promise<void> {
  const { url, from, head, "acting-user": actingUser } = valuesOf(args, OPTIONS);
  if (from && !isDate(from)) throw new UsageError("--from must be a date such as 2026-01-31.");
  const verified = await verifyAccessLog(settingsFor(url), {
    from,
    heads: head.map(parseHead),
    actingUser,
    onProgress: (date, entries) => say(`${date}: ${count(entries, "entry", "entries")} so far`),
  });
  for (const warning of verified.warnings) say(`WARNING ${warning}`);
  if (verified.head) say(`Keep: --head ${verified.head.date}=${verified.head.seal_sha256}`);
  say(
    `No fault found: ${count(verified.entries, "entry", "entries")} on ${count(verified.days, "day", "days")} match their seals` +
      (verified.organization_id === null ? "." : `, for the organization ${verified.organization_id}.`),
  );
}

function parseHead(text: string) {
  const [date = "", seal_sha256 = ""] = text.split("=");
  if (!isDate(date) || !/^[0-9a-f]{64}$/i.test(seal_sha256))
    throw new UsageError("--head must be a date and a SHA-256 in hex: --head 2026-01-31=0a2b…");
  return { date, seal_sha256 };
}
