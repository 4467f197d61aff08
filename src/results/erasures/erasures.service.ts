import { digestOfReference } from "../../audit/access_logs/access_logs.sql.ts";
import { erasablePortion, erasureOf } from "../../calls/participants/participants.erasure.ts";
import type { ClientContext } from "../../context.ts";
import { decideAndWrite } from "../../database/decide_and_write.ts";
import { asAdministrator } from "../../organization/roles/roles.authors.ts";
import { participantSearchEntry } from "../../rooms/visits/visits.sql.ts";
import { deletionOfTexts, refuseResults } from "../call_texts/call_texts.sql.ts";
import { deleteRequestedFiles } from "../egress_deletions/egress_deletions.service.ts";
import { deletionByCalls } from "../egress_deletions/egress_deletions.sql.ts";
import { countLeft } from "./erasures.sql.ts";

/**
 * Erases a portion of what names a person, as retention would, and if asked, the results of the calls in this portion. Both are one
 * transaction, because afterwards nothing shows whose calls they were. A request that erases nobody is recorded as a search, because
 * its counts tell whether the person is known.
 */
export async function erasePortion(
  context: ClientContext,
  of: { external_reference: string; texts: boolean },
) {
  const { external_reference, texts } = of;
  const { caller, settings } = context;
  const { organization_id } = caller;
  const author = asAdministrator(caller);
  const reference_digest = await digestOfReference(settings, external_reference);
  const person = { organization_id, reference_digest };
  const erasure = await decideAndWrite(
    context,
    { member: author.read, erasable: erasablePortion(person) },
    async ({ member: [member], erasable }) => {
      author.require(member);
      const { count: erased_count, writes } = await erasureOf(context, "update", erasable);
      const results = texts ? deletionOfResults(context, erasable) : [];
      return {
        writes: [...results, ...writes, countLeft({ ...person, erased_count })],
        entries: erased_count === 0 ? [participantSearchEntry(context, "search", person)] : [],
      };
    },
  );
  if (texts) await deleteRequestedFiles(context, organization_id);
  return erasure;
}

/** Deletes the texts of these participations' calls, and schedules the deletion of the recordings. Neither can be reported again. */
function deletionOfResults(context: ClientContext, participations: { call_id: number | null }[]) {
  const { now, requester } = context;
  const call_ids = JSON.stringify(participations.flatMap(({ call_id }) => call_id ?? []));
  return [
    deletionOfTexts.record(context, "delete", { call_ids }),
    deletionOfTexts.remove({ call_ids }),
    refuseResults({ call_ids, now }),
    deletionByCalls.record(context, "delete", { call_ids }),
    deletionByCalls.schedule({ call_ids, user_id: requester.user_id, now }),
  ];
}
