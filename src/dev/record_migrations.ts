/**
 * Part of `npm run deploy`: what a database has run stays as it is, so the digests of the migrations that have none yet are
 * written down. If one is edited later, a test says so.
 */
import { writeFileSync } from "node:fs";
import { DIGESTS, digestLine, isDeployed, migrationFiles, readText } from "./migrations.ts";

const recorded = isDeployed() ? readText(DIGESTS) : "";
const added = migrationFiles().filter((file) => !recorded.includes(`  ${file}\n`));
if (added.length > 0) {
  writeFileSync(DIGESTS, recorded + added.map((file) => `${digestLine(file)}\n`).join(""));
  process.stdout.write(`Wrote ${DIGESTS}: commit it. From now on migrations are only added.\n`);
}
