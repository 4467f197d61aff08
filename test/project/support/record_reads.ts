/** Preloaded into a process, records in `reads.txt` which files the process reads and imports. */
import fs, { appendFileSync, writeFileSync } from "node:fs";
import { registerHooks, syncBuiltinESMExports } from "node:module";
import { fileURLToPath } from "node:url";

writeFileSync("reads.txt", "");
const record = (file: unknown) => appendFileSync("reads.txt", `${file}\n`);

const { readFileSync } = fs;
const { readFile } = fs.promises;
fs.readFileSync = ((...args: Parameters<typeof readFileSync>) => {
  record(args[0]);
  return readFileSync(...args);
}) as typeof readFileSync;
fs.promises.readFile = ((...args: Parameters<typeof readFile>) => {
  record(args[0]);
  return readFile(...args);
}) as typeof readFile;
syncBuiltinESMExports();

registerHooks({
  load(url, context, nextLoad) {
    if (url.startsWith("file:")) record(fileURLToPath(url));
    return nextLoad(url, context);
  },
});
