/**
 * `npm run build`: makes what `generate.ts` says, unless nothing has changed since the last build. Generating takes
 * seconds, and every start of a server would wait for it.
 */
import { existsSync } from "node:fs";
import { unlessBuilt } from "./build_record.ts";

// wrangler sets the variable. Not while servers start: nobody may import the SDK while it is written.
const withSdk = !process.env.WRANGLER_COMMAND;
// Much of what it reads it imports, so that comes after the look at the inputs.
await unlessBuilt(withSdk, async () => (await import("./generate.ts")).generate({ withSdk }));

// wrangler shows what is printed here.
if (process.env.WRANGLER_COMMAND === "dev" && !existsSync(".dev.vars"))
  process.stdout.write(
    "There are no settings and no local database yet. Stop this, and run `npm run dev`: it makes both.\n",
  );
