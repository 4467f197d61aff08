import type { ChildProcess } from "node:child_process";

/** Collects the output of a process: `seen` while it runs, and `ended` with its exit code. */
export function printsOf(child: ChildProcess) {
  const seen = { stdout: "", stderr: "", output: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name]?.setEncoding("utf8").on("data", (chunk) => {
      seen[name] += chunk;
      seen.output += chunk;
    });
  const ended = new Promise<typeof seen & { code: number | null }>((resolve) =>
    child.on("close", (code) => resolve({ code, ...seen })),
  );
  return { seen, ended };
}
