/** `npm run organizations:delete`: deletes a suspended organization with all its data. See organization_deletion.ts. */
import { existsSync } from "node:fs";
import { CONSENT_USAGE, consentOptions, mayChange, say } from "./command.ts";
import { organizationId, runDatabaseCommand } from "./database_command.ts";
import { boundDatabases } from "./databases.ts";
import { deleteFolder, type RegionFiles } from "./move_files.ts";
import { deleteOrganization, type Leaving, openLeaving, unfreeze } from "./organization_deletion.ts";
import { countRows } from "./organization_rows.ts";
import { writePrivateFile } from "./private_file.ts";
import { withRegions } from "./region_files.ts";
import { runAt } from "./statement_runner.ts";

const USAGE = `
Usage: npm run organizations:delete -- --organization ID [--remote]

Deletes a suspended organization with its recordings and all its rows. It says what it will delete, and asks for the organization's slug
before it begins. If it is interrupted, run it again: it continues. Or run it with --undo.

With --remote, set RECORDINGS_S3_ENDPOINT, RECORDINGS_S3_ACCESS_KEY_ID and RECORDINGS_S3_SECRET_ACCESS_KEY in the environment, as in the
secrets of the Worker, and those of every other region.

  --organization ID    the id of the organization
  --undo               lets an organization continue that an interrupted run has frozen, and deletes nothing
  --access-log FILE    the file for the part of its access log that no sealed file has; access-log-of-SLUG.ndjson by default
${CONSENT_USAGE}`;

const options = {
  ...consentOptions,
  organization: { type: "string" },
  undo: { type: "boolean" },
  "access-log": { type: "string" },
} as const;

runDatabaseCommand(USAGE, options, async ({ organization, undo, "access-log": file, ...target }) => {
  // Asks for data on this machine too: there is no way back.
  const consent = { ...target, remote: true };
  const id = organizationId(organization);
  const shards = (await boundDatabases(target)).map(({ shard }) => shard);
  const leaving = await openLeaving(runAt(target), id, shards);
  if (leaving.refusal && !undo) throw new Error(leaving.refusal);
  if (undo) {
    if (!(await mayChange([`Let organization ${id} continue, and delete nothing`], consent))) return;
    await unfreeze(leaving);
    return say("Nothing was deleted, and the organization is not frozen.");
  }
  await withRegions(target, async ({ regionOf, filesOf }) => {
    const inEach = new Map(shards.map((shard) => [regionOf(shard), shard]));
    const regions = [...inEach.values()].map(filesOf);
    const kept = file ?? `access-log-of-${leaving.slug}.ndjson`;
    if (!leaving.isBegun && existsSync(kept))
      throw new Error(
        `${kept} exists. Choose another file with --access-log. If an interrupted run wrote it, you can delete it.`,
      );
    const question = `Type the slug of the organization to delete it for good (${leaving.slug}):\n`;
    const agrees = new RegExp(`^${leaving.slug}$`);
    if (!(await mayChange(await planOf(leaving, regions), consent, { question, agrees }))) return;
    let failure: Error | undefined;
    await deleteOrganization(leaving, {
      keep: (lines) => writePrivateFile(kept, lines),
      deleteFiles: async (prefix) => {
        for (const { recordings } of regions)
          await deleteFolder(recordings, prefix).catch((error) => {
            failure = error;
          });
      },
    });
    say(`The rows of organization ${id} are deleted.`);
    if (existsSync(kept)) say(`Keep ${kept} with the sealed files of its access log: it has their seals.`);
    if (failure) throw failure;
  });
});

async function planOf(leaving: Leaving, regions: RegionFiles[]): Promise<string[]> {
  const rows = await countRows(leaving, leaving.shards);
  let files = 0;
  const kept: string[] = [];
  for (const { region, recordings, auditLogs } of regions) {
    files += (await recordings.list(`${leaving.slug}/`)).length;
    const { length } = region ? await auditLogs.list(`${leaving.id}/`) : [];
    if (length > 0)
      kept.push(`  sealed days of its access log in the region ${region}, which stay: ${length}`);
  }
  const isLeft = leaving.isBegun ? ": an earlier run has begun, and this is what is left" : "";
  return [
    `Delete organization ${leaving.id} (${leaving.slug}) for good${isLeft}`,
    ...[...rows].map(([table, count]) => `  ${table}: ${count} rows`),
    `  files of recordings: ${files}`,
    ...kept,
  ];
}
