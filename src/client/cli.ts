#!/usr/bin/env node
import { AccessLogFault } from "./access_log.ts";
import { EXPORT_PARTICIPANT_USAGE, exportParticipantCommand } from "./cli_export_participant.ts";
import { LISTEN_USAGE, listen } from "./cli_listen.ts";
import { causeOf, say, UsageError } from "./cli_support.ts";
import { VERIFY_ACCESS_LOG_USAGE, verifyAccessLogCommand } from "./cli_verify_access_log.ts";
import { VideoVisitError } from "./errors.ts";

const COMMANDS = new Map([
  ["listen", { run: listen, usage: LISTEN_USAGE }],
  ["export-participant", { run: exportParticipantCommand, usage: EXPORT_PARTICIPANT_USAGE }],
  ["verify-access-log", { run: verifyAccessLogCommand, usage: VERIFY_ACCESS_LOG_USAGE }],
]);

const [name = "", ...args] = process.argv.slice(2);
const command = COMMANDS.get(name);
const usage = command?.usage ?? [...COMMANDS.values()].map((each) => each.usage).join("\n");

main().catch((error: unknown) => {
  process.exitCode = error instanceof AccessLogFault ? 1 : error instanceof UsageError ? 2 : 3;
  process.stderr.write(`${explained(error)}\n${error instanceof UsageError ? `\n${usage}` : ""}`);
});

async function main() {
  if (process.argv.includes("--help")) return say(usage);
  if (!command) throw new UsageError(`The command is ${[...COMMANDS.keys()].join(" or ")}.`);
  await command.run(args);
}

function explained(error: unknown): string {
  if (error instanceof AccessLogFault) return `FAULT ${error.message}`;
  if (!(error instanceof Error)) return String(error);
  const cause = error instanceof VideoVisitError ? causeOf(error.cause) : undefined;
  return cause === undefined ? error.message : `${error.message} (${cause})`;
}
