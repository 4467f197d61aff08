/**
 * `npm run build`: runs `generate.ts` if anything has changed since the last build. Generating takes seconds, for which every
 * start of a server would have to wait.
 */
import { existsSync } from "node:fs";
import { unlessBuilt } from "./build_record.ts";

// wrangler sets WRANGLER_COMMAND. Do not write the SDK while a server starts: another process may be importing it.
const withSdk = !process.env.WRANGLER_COMMAND;
// Imported only after the inputs were read, because it imports many of them.
await unlessBuilt(withSdk, async () => (await import("./generate.ts")).generate({ withSdk }));

// wrangler shows this output.
if (process.env.WRANGLER_COMMAND === "dev" && !existsSync(".dev.vars"))
  process.stdout.write(
    "There are no settings and no local database yet. Stop this and run `npm run dev`, which creates both.\n",
  );
