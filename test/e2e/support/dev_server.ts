import { type SpawnOptions, spawn, spawnSync } from "node:child_process";

const IS_WINDOWS = process.platform === "win32";

/** On Windows npm is a batch file, which only a shell runs. The shell gets the arguments in quotes. */
export const npm = (args: string[], options: SpawnOptions) =>
  spawn("npm", IS_WINDOWS ? args.map((arg) => `"${arg}"`) : args, { ...options, shell: IS_WINDOWS });

/**
 * Starts `npm run dev` on a free port.
 *
 * @param data where it keeps its database and files
 * @param temporary where it and wrangler keep their temporary files
 */
export function startDevServer(data: string, temporary: string, flags: string[] = [], inspectorPort = 0) {
  const freePorts = ["--port", "0", "--inspector-port", String(inspectorPort)];
  const child = npm(["run", "--silent", "dev", "--", ...freePorts, "--persist-to", data, ...flags], {
    detached: !IS_WINDOWS,
    env: { ...process.env, TMPDIR: temporary, TEMP: temporary },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise<void>((resolve) => child.on("close", () => resolve()));
  let output = "";
  const introduced = new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream?.on("data", (chunk) => {
        output += chunk;
        // Only whole lines: under load a line may come in pieces.
        const curl = /^ {2}(curl .*\/api\/external\/waiting_rooms)\r?\n/m.exec(output)?.[1];
        if (curl) resolve(curl);
      });
    ended.then(() => reject(new Error(`The server ended before it was ready:\n${output}`)));
  });
  return {
    /** When it says how to call it: its address, and the curl line that it prints. */
    ready: introduced.then((curl) => ({ curl, url: new URL(/http:\S+/.exec(curl)?.[0] ?? "").origin })),
    output: () => output,
    ended,
    /** Ends the server and all that it started: they are one process group, or on Windows one tree. */
    async stop() {
      if (child.exitCode !== null) return;
      if (child.pid && IS_WINDOWS) spawnSync("taskkill", ["/pid", String(child.pid), "/tree", "/force"]);
      else if (child.pid) process.kill(-child.pid, "SIGTERM");
      await ended;
    },
  };
}
