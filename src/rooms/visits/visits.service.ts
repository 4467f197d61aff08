import { requireEntry } from "../../audit/access_logs/access_logs.entries.ts";
import { digestOfReference } from "../../audit/access_logs/access_logs.sql.ts";
import type { ClientContext, Context } from "../../context.ts";
import { decideAndWrite } from "../../database/decide_and_write.ts";
import { runAll, runBatch, runFirst } from "../../database/queries.ts";
import { writePosition } from "../../http/pagination.ts";
import { requireVersion } from "../../http/preconditions.ts";
import { VISIT_LINK_VALID_FOR } from "../../lifetimes.ts";
import { accountsAmong, type Reach, reachedMember, reachOf } from "../../organization/members/members.sql.ts";
import { organizationSuspended } from "../../organization/organizations/organizations.refusals.ts";
import { peopleOfVisit, removePeople, writePeople } from "../people/people.sql.ts";
import { destinationOf } from "../waiting_room_subs/waiting_room_subs.merge.ts";
import { roomOfPath } from "../waiting_rooms/waiting_rooms.sql.ts";
import { listedVisits } from "./visits.lists.ts";
import { cancelVisit, mergeVisit, namedIn, newVisit } from "./visits.merge.ts";
import * as refusals from "./visits.refusals.ts";
import * as schemas from "./visits.schemas.ts";
import * as sql from "./visits.sql.ts";
import { verifyVisitToken, withLinks } from "./visits.tokens.ts";

export async function listVisits(context: ClientContext, query: schemas.VisitsQuery) {
  const { db, settings } = context;
  const reference_digest = await digestOfReference(settings, query.participant_reference);
  const [found, [end], entries] = await runBatch(db, listedVisits(context, query, reference_digest));
  requireEntry(entries);
  const visits = found.slice(0, query.per_page);
  const last = visits.at(-1);
  const position = last && found.length > visits.length ? { time: last.starts_at, id: last.id } : end;
  return { visits, next_after: position ? writePosition(position) : null };
}

export async function requireVisit(context: ClientContext, id: number): Promise<schemas.VisitWithLinks> {
  const reached = { ...reachOf(context.caller), id };
  const [[visit], entries] = await runBatch(context.db, [
    sql.readableVisit(reached),
    sql.visitReadEntry(context, "read", reached),
  ]);
  if (!visit) throw refusals.visitNotFound();
  requireEntry(entries);
  return withLinks(context.settings, visit);
}

export async function createVisit(
  context: ClientContext,
  input: schemas.CreateVisit,
): Promise<schemas.VisitWithLinks> {
  const { db, now, caller, settings } = context;
  const { organization_id } = caller;
  const { external_reference = null } = input;
  const { people } = namedIn(input, { organization_id, people: [] }, now);
  const participants = people.map(schemas.toVisitParticipant);
  const visit = await decideAndWrite(
    context,
    { ...readsOfPlan(reachOf(caller), input), quota: sql.visitQuota({ organization_id }) },
    async ({ room: [room], holder: [holder], accounts, quota: [quota] }) => {
      const known = { room, holder, accounts, organization_id, isFull: quota?.is_full ?? false };
      return {
        writes: [
          sql.visitWrites.insert(newVisit(known, input, now)),
          ...(await writePeople(settings, people)),
          sql.newestVisit({}),
        ],
        entries: [sql.visitEntry.ofNewest(context, "create", {})],
      };
    },
    { idempotency: await sql.visitIdempotency(context, { external_reference, participants }) },
  );
  if (context.keyed?.isReplay)
    requireEntry(await runAll(db, sql.visitEntry.of(context, "read", { organization_id, id: visit.id })));
  return withLinks(settings, visit);
}

export async function updateVisit(context: ClientContext, id: number, input: schemas.UpdateVisit) {
  const { now, caller, settings } = context;
  const reached = { ...reachOf(caller), id };
  const { organization_id } = caller;
  const visit = await decideAndWrite(
    context,
    {
      visit: sql.visitOfPath(reached),
      people: peopleOfVisit({ organization_id, visit_id: id }),
      ...readsOfPlan(reached, input),
    },
    async ({ visit: [before], people, room: [room], holder: [holder], accounts }) => {
      if (!before) throw refusals.visitNotFound();
      requireVersion(context, before);
      const next = mergeVisit(before, people, { room, holder, accounts }, input, now);
      // An update that changes nothing only shows the visit.
      const event = next.visit === before ? "read" : "update";
      return {
        writes: [
          ...(await writePeople(settings, next.people)),
          ...(next.removed.length > 0 ? [removePeople({ ids: JSON.stringify(next.removed), now })] : []),
          sql.visitWrites.update(before, next.visit),
        ],
        entries: [sql.visitEntry.of(context, event, reached)],
      };
    },
  );
  return withLinks(settings, visit);
}

export async function cancelPlannedVisit(context: ClientContext, id: number): Promise<void> {
  const { now, caller } = context;
  const reached = { ...reachOf(caller), id };
  await decideAndWrite(context, { visit: sql.visitOfPath(reached) }, ({ visit: [before] }) => {
    if (!before) throw refusals.visitNotFound();
    requireVersion(context, before);
    const visit = cancelVisit(before, now);
    if (visit === before) return { unchanged: before };
    return {
      writes: [sql.visitWrites.update(before, visit)],
      entries: [sql.visitEntry.of(context, "delete", reached)],
    };
  });
}

const readsOfPlan = (reach: Reach, input: schemas.UpdateVisit) => ({
  room: roomOfPath({ ...reach, slug: input.waiting_room_slug ?? "" }),
  holder: reachedMember({ ...reach, id: input.organization_user_id ?? 0 }),
  accounts: accountsAmong({
    organization_id: reach.organization_id,
    ids: JSON.stringify((input.participants ?? []).flatMap(({ user_id }) => user_id ?? [])),
  }),
});

/** Finds the participant whom a link invites, and the room to send them to now. A link does not sign anyone in: links get forwarded. */
export async function redeemVisitLink(context: Context, token: string): Promise<schemas.RedeemedVisit> {
  const { db, now, settings } = context;
  const link = await verifyVisitToken(settings, token);
  const visit = await runFirst(db, sql.visitOfLink({ ...link, now }));
  if (!visit) throw refusals.visitLinkNotValid();
  if (visit.is_suspended) throw organizationSuspended();
  const participant = visit.participants.find(({ id }) => id === link.participant_id);
  if (!participant) throw refusals.visitLinkWithdrawn();
  if (visit.room_retired_at !== null) throw refusals.visitRoomRetired();
  if (visit.status === "cancelled") throw refusals.visitWasCancelled();
  if (visit.ends_at + VISIT_LINK_VALID_FOR <= now) throw refusals.visitIsOver();
  return { visit, participant, destination_slug: destinationOf(visit.way) };
}
