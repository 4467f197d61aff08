import type { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { done } from "../e2e/support/ended.ts";
import { bindingsOfShards } from "./support/busy_shards.ts";
import { openClinic } from "./support/clinic_in_node.ts";
import { letTimePass } from "./support/load_over_shards.ts";
import { digestsOf, fillOrganization, letMinutesPass } from "./support/moving.ts";
import { aServiceAtCloudflare } from "./support/service_at_cloudflare.ts";
import { likeWorkers } from "./support/worker_in_node.ts";

likeWorkers();
letTimePass();

/** `npm run simulate` moves organizations while their clients write. */
it("`npm run organizations:move -- --remote` moves an organization of 30,000 rows, and then deletes its old ones", async () => {
  const service = await aServiceAtCloudflare([1]);
  const databases = [service.directory, service.databaseOf(1)] as [DatabaseSync, DatabaseSync];
  const clinic = await openClinic({ ...bindingsOfShards(databases), NEW_ORGANIZATIONS_SHARD: "0" } as Env);
  fillOrganization(databases[0], clinic.id, { rows: 30_000, hours: 1000 });
  const before = digestsOf(databases[0], clinic.id);
  const args = ["--remote", "--yes", "--organization", String(clinic.id)];
  const output = await done(service.run("organizations_move", ...args, "--to", "1"));
  process.stdout.write(`Over D1's REST API: ${output}`);
  expect(digestsOf(databases[1], clinic.id)).toEqual(before);
  letMinutesPass(databases);
  const cleaned = await done(service.run("organizations_move", ...args, "--delete-old"));
  expect(cleaned).toContain("Deleted its old rows in shard 0.");
  expect(digestsOf(databases[0], clinic.id).calls?.count).toBe(0);
});
