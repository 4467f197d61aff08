import { VideoVisitError } from "../../dist/client/external/index.js";
import { accessLogOver } from "./access_log_client.ts";
import { AccessLogFault } from "./access_log_source.ts";
import { verifyAccessLog } from "./access_log_verifier.ts";
import { runCommand, UsageError } from "./command.ts";
import { causeOf } from "./platform_client.ts";

const USAGE = `
Usage: npm run verify-access-log -- --url URL [--from DATE] [--head DATE=SHA256]…

  --url URL           where the service is
  --from DATE         reads no files before this day; all seals are checked
  --head DATE=SHA256  the digest of a seal, as the event access_log.sealed brought it; may be given many times
  --acting-user ID    for whom you check: the service records it; "verify-access-log" if left out

The credentials come from the environment variables CLIENT_ID and CLIENT_SECRET. They are no arguments, because shells
keep what is typed.
`;

const OPTIONS = {
  url: { type: "string" },
  from: { type: "string" },
  head: { type: "string", multiple: true, default: [] as string[] },
  "acting-user": { type: "string", default: "verify-access-log" },
} as const;

const say = (line: string) => process.stdout.write(`${line}\n`);
const count = (number: number) => number.toLocaleString("en-US");

process.exitCode = await runCommand(USAGE, OPTIONS, async (options) => {
  const { url, from, head } = options;
  if (!url || !URL.canParse(url)) throw new UsageError("--url must be the address of the service.");
  if (from && !isDate(from)) throw new UsageError("--from must be a date such as 2026-01-31.");
  const { CLIENT_ID, CLIENT_SECRET } = process.env;
  if (!CLIENT_ID || !CLIENT_SECRET)
    throw new UsageError("Set the environment variables CLIENT_ID and CLIENT_SECRET.");
  const credentials = { clientId: CLIENT_ID, clientSecret: CLIENT_SECRET };
  const verified = await verifyAccessLog(
    accessLogOver(url.replace(/\/+$/, ""), credentials, options["acting-user"]),
    {
      from,
      heads: head.map(parseHead),
      now: Date.now(),
      progress: (date, entries) => say(`${date}: ${count(entries)} entries so far`),
    },
  ).catch((error) => {
    throw explained(error);
  });
  for (const warning of verified.warnings) say(`WARNING ${warning}`);
  if (verified.head) say(`Keep: --head ${verified.head.date}=${verified.head.seal_sha256}`);
  say(
    `No fault: ${count(verified.entries)} entries of ${count(verified.days)} days are as they were sealed` +
      (verified.organization_id === null ? "." : `, for the organization ${verified.organization_id}.`),
  );
});

function explained(error: unknown): unknown {
  if (error instanceof AccessLogFault) return new Error(`FAULT ${error.message}`);
  if (error instanceof VideoVisitError && error.cause instanceof Error)
    return new Error(`${error.message}: ${causeOf(error.cause)}`);
  return error;
}

function isDate(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text));
}

function parseHead(text: string): [string, string] {
  const [date = "", sha256 = ""] = text.split("=");
  if (!isDate(date) || !/^[0-9a-f]{64}$/i.test(sha256))
    throw new UsageError("--head must be a date and a SHA-256 in hex: --head 2026-01-31=0a2b…");
  return [date, sha256.toLowerCase()];
}
