import { getTableColumns, sql } from "drizzle-orm";
import { keyedDigests } from "../../bytes/digest.ts";
import { accessLogs } from "../../database/schema.ts";
import type { Settings } from "../../settings.ts";

const { organization_id: _, reference_digest: __, request_id, ...ownColumns } = getTableColumns(accessLogs);

export const accessLogColumns = {
  ...ownColumns,
  /** As hex: D1 sends a BLOB as an array of numbers. */
  request_id: sql<string | null>`iif(${request_id} is null, null, lower(hex(${request_id})))`.as(
    "request_id",
  ),
};

/** By which a reference is found that was looked for, or that was erased. It is no digest of a key. */
export async function digestsOfReferences(
  { DIGEST_SECRET }: Settings,
  references: string[],
): Promise<string[]> {
  return keyedDigests(
    DIGEST_SECRET,
    references.map((reference) => `reference ${reference}`),
  );
}
