/**
 * `npm run build`: makes what `generate.ts` says, unless nothing has changed since the last build. Generating takes
 * seconds, and every start of a server would wait for it.
 */
import { existsSync } from "node:fs";
import { digestOfInputs, isBuilt, recordBuild } from "./build_record.ts";

// wrangler sets the variable. Not while servers start: nobody may import the SDK while it is written.
const withSdk = !process.env.WRANGLER_COMMAND;
const inputs = digestOfInputs();
if (!isBuilt({ inputs, withSdk })) {
  // Much of what it reads it imports, so the digest comes first.
  const { generate } = await import("./generate.ts");
  await generate({ withSdk });
  // If a file was saved meanwhile, nobody knows which of its versions was read.
  if (digestOfInputs() === inputs) recordBuild({ inputs, withSdk });
}

// wrangler shows what is printed here.
if (process.env.WRANGLER_COMMAND === "dev" && !existsSync(".dev.vars"))
  process.stdout.write(
    "There are no settings and no local database yet. Stop this, and run `npm run dev`: it makes both.\n",
  );
