import { getTableColumns, sql } from "drizzle-orm";
import { keyedDigests } from "../../bytes/digest.ts";
import type { Settings } from "../../settings.ts";
import { accessLogs } from "./access_logs.table.ts";

const { organization_id: _, reference_digest: __, request_id, ...ownColumns } = getTableColumns(accessLogs);

export const accessLogColumns = {
  ...ownColumns,
  /** As hex, because D1 returns a BLOB as an array of numbers. */
  request_id: sql<string | null>`iif(${request_id} is null, null, lower(hex(${request_id})))`.as(
    "request_id",
  ),
};

/** The digests by which the log finds references that were searched for or erased. They differ from digests of keys. */
export async function digestsOfReferences(
  { DIGEST_SECRET }: Settings,
  references: string[],
): Promise<string[]> {
  return keyedDigests(
    DIGEST_SECRET,
    references.map((reference) => `reference ${reference}`),
  );
}
