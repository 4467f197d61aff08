#!/usr/bin/env node
import { parseArgs } from "node:util";
import { AccessLogFault, verifyAccessLog } from "./access_log.ts";
import { isDate } from "./access_log_chain.ts";
import { VideoVisitError } from "./errors.ts";

const USAGE = `Usage: npx organization-video-visit-client verify-access-log --url URL [--from DATE] [--head DATE=SHA256]…

Checks the access log of your organization: its seals, their files, and the entries that the service lists.

  --url URL           the address of the service
  --from DATE         skips the files of days before this date; all seals are checked anyway
  --head DATE=SHA256  the digest of a seal, from an access_log.sealed event; repeat it for each digest that you kept
  --acting-user ID    the person you check for, which the service records; by default verify-access-log

Exit status: 0 if there is no fault, 1 if there is one, 2 if the command is wrong, 3 if the log could not be checked.

Set the environment variables CLIENT_ID and CLIENT_SECRET to the credentials of a client that acts as an
organization_admin. They are not arguments, because your shell keeps a history.
`;

const OPTIONS = {
  url: { type: "string" },
  from: { type: "string" },
  head: { type: "string", multiple: true, default: [] as string[] },
  "acting-user": { type: "string" },
  help: { type: "boolean", default: false },
} as const;

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

/** fetch puts the reason of a failed connection in the error's cause. */
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
