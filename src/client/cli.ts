#!/usr/bin/env node
import { parseArgs } from "node:util";
import { AccessLogFault, verifyAccessLog } from "./access_log.ts";
import { isDate } from "./access_log_chain.ts";
import { VideoVisitError } from "./errors.ts";

const USAGE = `Usage: npx organization-video-visit-client verify-access-log --url URL [--from DATE] [--head DATE=SHA256]…

Checks the access log of your organization: its seals, their files, and what the service shows.

  --url URL           where the service is
  --from DATE         reads no files before this day; all seals are checked
  --head DATE=SHA256  the digest of a seal, as the event access_log.sealed brought it; may be given many times
  --acting-user ID    for whom you check: the service records it; "verify-access-log" if left out

It ends with 0 where there is no fault, with 1 where there is one, with 2 where the command is wrong, and with 3 where the log
could not be checked.

The credentials come from the environment variables CLIENT_ID and CLIENT_SECRET, of a client that acts as an
organization_admin. They are no arguments, because shells keep what is typed.
`;

const OPTIONS = {
  url: { type: "string" },
  from: { type: "string" },
  head: { type: "string", multiple: true, default: [] as string[] },
  "acting-user": { type: "string" },
  help: { type: "boolean", default: false },
} as const;

/** Something on the command line that is wrong. */
class UsageError extends Error {}

const say = (line: string) => process.stdout.write(`${line}\n`);
const count = (number: number) => number.toLocaleString("en-US");

main().catch((error: unknown) => {
  process.exitCode = error instanceof AccessLogFault ? 1 : error instanceof UsageError ? 2 : 3;
  process.stderr.write(`${explained(error)}\n${error instanceof UsageError ? `\n${USAGE}` : ""}`);
});

async function main() {
  const { values, positionals } = parsed();
  if (values.help) return say(USAGE);
  if (positionals.join(" ") !== "verify-access-log")
    throw new UsageError("The command is verify-access-log.");
  const { url, from, head } = values;
  if (!url) throw new UsageError("--url must be the address of the service.");
  if (from && !isDate(from)) throw new UsageError("--from must be a date such as 2026-01-31.");
  const { CLIENT_ID, CLIENT_SECRET } = process.env;
  if (!CLIENT_ID || !CLIENT_SECRET)
    throw new UsageError("Set the environment variables CLIENT_ID and CLIENT_SECRET.");
  const verified = await verifyAccessLog(
    { baseUrl: url, clientId: CLIENT_ID, clientSecret: CLIENT_SECRET },
    {
      from,
      heads: head.map(parseHead),
      actingUser: values["acting-user"],
      onProgress: (date, entries) => say(`${date}: ${count(entries)} entries so far`),
    },
  );
  for (const warning of verified.warnings) say(`WARNING ${warning}`);
  if (verified.head) say(`Keep: --head ${verified.head.date}=${verified.head.seal_sha256}`);
  say(
    `No fault: ${count(verified.entries)} entries of ${count(verified.days)} days are as they were sealed` +
      (verified.organization_id === null ? "." : `, for the organization ${verified.organization_id}.`),
  );
}

function parsed() {
  try {
    return parseArgs({ options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function explained(error: unknown): string {
  if (error instanceof AccessLogFault) return `FAULT ${error.message}`;
  if (!(error instanceof Error)) return String(error);
  const cause = error instanceof VideoVisitError ? causeOf(error.cause) : undefined;
  return cause === undefined ? error.message : `${error.message} (${cause})`;
}

/** What fetch says of a failed connection stands in its cause. */
function causeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, message } = (error.cause ?? error) as { code?: string; message?: string };
  return code ?? message;
}

function parseHead(text: string) {
  const [date = "", seal_sha256 = ""] = text.split("=");
  if (!isDate(date) || !/^[0-9a-f]{64}$/i.test(seal_sha256))
    throw new UsageError("--head must be a date and a SHA-256 in hex: --head 2026-01-31=0a2b…");
  return { date, seal_sha256 };
}
