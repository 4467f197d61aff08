import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from "node:child_process";
import { startWrangler } from "../../../src/dev/wrangler.ts";
import { DEVELOPMENT_ASSETS } from "../../../src/reference/assets.ts";
import { printsOf } from "../../support/prints.ts";

const IS_WINDOWS = process.platform === "win32";

/** On Windows npm is a batch file, which only a shell runs, with its arguments in quotes. */
export const npm = (args: string[], options: SpawnOptions) =>
  spawn("npm", IS_WINDOWS ? args.map((arg) => `"${arg}"`) : args, { ...options, shell: IS_WINDOWS });

/** @throws Error if npm fails */
export async function runNpm(args: string[], cwd: string) {
  const { code, output } = await printsOf(npm([...args, "--silent"], { cwd })).ended;
  if (code !== 0) throw new Error(`npm ${args.join(" ")} failed:\n${output}`);
}

interface ServerOptions {
  data: string;
  temporary: string;
  flags?: string[];
  inspectorPort?: number;
  heapLimit?: number | undefined;
}

const argumentsOf = ({ data, flags = [], inspectorPort = 0 }: ServerOptions) => [
  ...["--port", "0", "--inspector-port", String(inspectorPort)],
  ...["--persist-to", data],
  ...flags,
];

const optionsOf = ({ temporary, heapLimit }: ServerOptions): SpawnOptions => ({
  detached: !IS_WINDOWS,
  env: {
    ...process.env,
    TMPDIR: temporary,
    TEMP: temporary,
    ...(heapLimit && { MINIFLARE_WORKERD_V8_FLAGS: `--max-heap-size=${heapLimit}` }),
  },
});

/** Starts `npm run dev` on a free port. It is ready when it has printed the curl line, which has its address. */
export function startDevServer(options: ServerOptions) {
  const args = ["run", "--silent", "dev", "--", ...argumentsOf(options)];
  const child = npm(args, { ...optionsOf(options), stdio: ["ignore", "pipe", "pipe"] });
  return theServer<{ curl: string; url: string }>(child, (isReady, output) => {
    for (const stream of [child.stdout, child.stderr])
      stream?.on("data", () => {
        // Under load a line may arrive in pieces, so only whole lines count.
        const curl = /^ {2}(curl .*\/api\/external\/waiting_rooms)\r?\n/m.exec(output())?.[1];
        if (curl) isReady({ curl, url: new URL(/http:\S+/.exec(curl)?.[0] ?? "").origin });
      });
  });
}

/** Starts the server as `npm run dev` does if the data exists, in half the time. */
export function startServerAlone(options: ServerOptions) {
  const args = ["dev", "--no-minify", "--assets", DEVELOPMENT_ASSETS, ...argumentsOf(options)];
  const child = startWrangler(args, { ...optionsOf(options), stdio: ["ignore", "pipe", "pipe", "ipc"] });
  return theServer<{ url: string }>(child, (isReady) =>
    child.on("message", (message) => {
      const { event, port } = JSON.parse(String(message));
      if (event === "DEV_SERVER_READY") isReady({ url: `http://localhost:${port}` });
    }),
  );
}

/** @param announce calls `isReady` with the server's details when it is ready */
function theServer<Ready>(
  child: ChildProcess,
  announce: (isReady: (ready: Ready) => void, output: () => string) => void,
) {
  const { seen, ended } = printsOf(child);
  const ready = new Promise<Ready>((resolve, reject) => {
    announce(resolve, () => seen.output);
    ended.then(() => reject(new Error(`The server ended before it was ready:\n${seen.output}`)));
  });
  return {
    ready,
    pid: child.pid,
    output: () => seen.output,
    ended,
    /** Ends the server and all processes that it started: they are one process group, or on Windows one tree. */
    stop: () => end("SIGTERM"),
    /** Like `stop`, but at once: after SIGTERM, the server processes its messages for some time. */
    kill: () => end("SIGKILL"),
  };
  async function end(signal: NodeJS.Signals) {
    if (child.exitCode !== null || child.signalCode !== null) return;
    if (child.pid && IS_WINDOWS) spawnSync("taskkill", ["/pid", String(child.pid), "/tree", "/force"]);
    else if (child.pid) process.kill(-child.pid, signal);
    await ended;
  }
}
