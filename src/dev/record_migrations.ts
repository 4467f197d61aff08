/** Part of `npm run deploy`: what a database has run stays as it is, so the digests of all migrations are written down. */
import { DIGESTS, isDeployed, recordDigests } from "./migrations.ts";

const isFirst = !isDeployed();
recordDigests();
if (isFirst) process.stdout.write(`Wrote ${DIGESTS}: commit it. From now on migrations are only added.\n`);
