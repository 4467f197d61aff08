/**
 * `npm test`: builds, then runs `npm run check` and the short tests at the same time. The arguments are for Vitest, such as the
 * name of a floor or a file: `npm test -- rooms`.
 */
import { type SpawnOptions, spawn } from "node:child_process";

/** @param onOutput gets the output, which is otherwise printed as it comes */
function succeeds(command: string, args: string[] = [], onOutput?: (text: string) => void): Promise<boolean> {
  const output = onOutput ? "pipe" : "inherit";
  const options: SpawnOptions = { shell: true, stdio: ["ignore", output, output] };
  const child = spawn([command, ...args.map((arg) => JSON.stringify(arg))].join(" "), options);
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (data) => onOutput?.(String(data)));
  return new Promise((resolve) => child.on("close", (code) => resolve(code === 0)));
}

async function checkSucceeds(): Promise<boolean> {
  const output: string[] = [];
  const hasSucceeded = await succeeds("npm run --silent check", [], (text) => output.push(text));
  if (!hasSucceeded) process.stderr.write(`\nnpm run check failed:\n${output.join("")}`);
  return hasSucceeded;
}

const tests = ["run", "--project", "!*-long", ...process.argv.slice(2)];
const isGreen =
  (await succeeds("npm run --silent build")) &&
  (await Promise.all([checkSucceeds(), succeeds("vitest", tests)])).every(Boolean);
process.exitCode = isGreen ? 0 : 1;
