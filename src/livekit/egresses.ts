import { and, eq, inArray, sql } from "drizzle-orm";
import type { Context } from "../context.ts";
import { type Decision, decideAndWrite } from "../database/decide_and_write.ts";
import { builder, jsonValues, type Placeholders, preparedQuery } from "../database/queries.ts";
import { rowsWhere } from "../database/selects.ts";
import { upsertIfChanged } from "../database/table_writes.ts";
import { organizationBySlug } from "../organization/organizations/organizations.sql.ts";
import { isDeletedEarly, mergeSeenEgress } from "../results/egresses/egresses.merge.ts";
import type { Egress } from "../results/egresses/egresses.schemas.ts";
import { egressColumns, egressWrites, hasEgressKey, nameFiles } from "../results/egresses/egresses.sql.ts";
import { egresses, egressFiles } from "../results/egresses/egresses.table.ts";
import type { EgressEvent } from "./egress_info.ts";
import { callIdOfRoom, noOrganization, organizationOfRoom, type Room } from "./rooms.ts";

/**
 * Records LiveKit's state of an egress. If the room's call has not been reported yet, the egress waits for it (see
 * egresses.triggers.sql). A file that the egress cannot have is left out, and the rest is used.
 *
 * @throws ApiError 404 if no organization has the slug at the start of the room's name
 */
export async function reportEgressOfRoom(context: Context, event: EgressEvent) {
  const { organization_slug, egress_id, room_sid, report, downloads, storage_keys } = event;
  const key = { organization_slug, egress_id };
  let file_fault: "not a storage key" | "of another recording" | undefined;
  const { status } = await decideAndWrite(
    context,
    {
      organization: organizationBySlug({ slug: organization_slug }),
      egress: egressRead(key),
      call: callRead({ organization_slug, room_sid }),
      owners: ownersOfFiles({ organization_slug, storage_keys: JSON.stringify(storage_keys) }),
    },
    ({ organization: [organization], egress: [egress], call: [call], owners }): Decision<Egress> => {
      if (!organization) throw noOrganization();
      const ownerOf = new Map(owners.map((file) => [file.storage_key, file.egress_id]));
      const isFree = (storage_key: string) => (ownerOf.get(storage_key) ?? egress_id) === egress_id;
      file_fault = event.has_unusable_file ? "not a storage key" : undefined;
      if (!storage_keys.every(isFree)) file_fault = "of another recording";
      const download = downloads.find(({ storage_key }) => isFree(storage_key));
      const known = { organization_id: organization.id, egress, call_id: call?.id ?? null };
      const next = mergeSeenEgress(
        known,
        { egress_id, call_key: room_sid },
        { ...report, ...download },
        context.now,
      );
      const decision = upsertIfChanged(egressWrites, egress, next);
      const isNew = (name: string) => !ownerOf.has(name) || isDeletedEarly(egress);
      const added = storage_keys.filter((name) => isFree(name) && isNew(name));
      if (added.length === 0) return decision;
      const naming = nameFiles({
        organization_id: organization.id,
        egress_id,
        storage_keys: JSON.stringify(added),
      });
      const writes = "writes" in decision ? decision.writes : [];
      return { writes: [...writes, naming, egressRead(key)] };
    },
  );
  return { status, file_fault };
}

type OfOrganization = Pick<EgressEvent, "organization_slug">;

const egressRead = rowsWhere(
  egresses,
  egressColumns,
  (egress: Placeholders<OfOrganization & { egress_id: string }>) =>
    hasEgressKey({ organization_id: organizationOfRoom(egress), egress_id: egress.egress_id }),
);

const callRead = preparedQuery((room: Placeholders<Room>) => callIdOfRoom(room));

/** The recordings that name, or once named, these files (a JSON array of storage keys). */
const ownersOfFiles = preparedQuery((files: Placeholders<OfOrganization & { storage_keys: string }>) =>
  builder
    .select({ storage_key: egressFiles.storage_key, egress_id: egresses.egress_id })
    .from(egressFiles)
    .innerJoin(egresses, eq(egresses.id, egressFiles.egress_id))
    .where(
      and(
        sql`${egressFiles.organization_id} = ${organizationOfRoom(files)}`,
        inArray(egressFiles.storage_key, jsonValues(files.storage_keys)),
      ),
    )
    .orderBy(egressFiles.storage_key),
);
