import type { ClientContext, Context } from "../../context.ts";
import { decideAndWrite } from "../../database/decide_and_write.ts";
import { runBatch, runFirst } from "../../database/queries.ts";
import { VISIT_LINK_VALID_FOR } from "../../lifetimes.ts";
import type { Settings } from "../../settings.ts";
import { requireEntry } from "../access_logs/access_logs.entries.ts";
import { digestsOfReferences } from "../access_logs/access_logs.sql.ts";
import {
  accountsAmong,
  type Reach,
  reachedUser,
  reachOf,
} from "../organization_users/organization_users.sql.ts";
import { roomOfPath } from "../participants/participants.waiting.ts";
import { listedVisits, positionAfter } from "./visits.lists.ts";
import { cancelVisit, mergeVisit, namedIn, newVisit } from "./visits.merge.ts";
import {
  visitIsOver,
  visitLinkNotValid,
  visitLinkWithdrawn,
  visitNotFound,
  visitRoomRetired,
  visitWasCancelled,
} from "./visits.refusals.ts";
import type {
  CreateVisit,
  RedeemedVisit,
  UpdateVisit,
  Visit,
  VisitsQuery,
  VisitWithLinks,
} from "./visits.schemas.ts";
import {
  newVisitEntry,
  noteReferences,
  noteReferencesOfNewest,
  visitEntry,
  visitIdempotency,
  visitListEntry,
  visitOfLink,
  visitOfPath,
  visitQuota,
  visitWrites,
} from "./visits.sql.ts";
import { verifyVisitToken, withLinks } from "./visits.tokens.ts";

/** The visits that the caller reaches, by their start, and where the next page begins: null at the end. */
export async function listVisits(
  context: ClientContext,
  query: VisitsQuery,
): Promise<{ visits: Visit[]; next_after: string | null }> {
  const { db, caller } = context;
  const [found, entries] = await runBatch(db, [
    listedVisits(reachOf(caller), query),
    visitListEntry(context, "read", { id: caller.organization_id, reference_digest: null }),
  ]);
  requireEntry(entries);
  const visits = found.slice(0, query.per_page);
  const last = visits.at(-1);
  return { visits, next_after: last && found.length > visits.length ? positionAfter(last) : null };
}

export async function requireVisit(context: ClientContext, id: number): Promise<VisitWithLinks> {
  const reached = { ...reachOf(context.caller), id };
  const [[visit], entries] = await runBatch(context.db, [
    visitOfPath(reached),
    visitEntry(context, "read", reached),
  ]);
  if (!visit) throw visitNotFound();
  requireEntry(entries);
  return withLinks(context.settings, visit);
}

export async function createVisit(context: ClientContext, input: CreateVisit): Promise<VisitWithLinks> {
  const { db, now, caller, settings } = context;
  const { organization_id } = caller;
  const { external_reference = null } = input;
  const { participants } = namedIn(input);
  const digests = await digestsIn(settings, input);
  const visit = await decideAndWrite(
    db,
    [...readsOfPlan(reachOf(caller), input), visitQuota({ organization_id })],
    ([room], [holder], accounts, [quota]) => {
      const known = { room, holder, accounts, organization_id, isFull: quota?.is_full ?? false };
      return {
        writes: [visitWrites.insert(newVisit(known, input, now))],
        entries: [newVisitEntry(context, "create", {}), noteReferencesOfNewest({ organization_id, digests })],
      };
    },
    { idempotency: await visitIdempotency(context, { external_reference, participants }) },
  );
  return withLinks(settings, visit);
}

/** What is left out stays; who is left out of a list of participants that is sent is removed, and their link void. */
export async function updateVisit(
  context: ClientContext,
  id: number,
  input: UpdateVisit,
): Promise<VisitWithLinks> {
  const { db, now, caller, settings } = context;
  const reached = { ...reachOf(caller), id };
  const { organization_id } = caller;
  const digests = await digestsIn(settings, input);
  const visit = await decideAndWrite(
    db,
    [visitOfPath(reached), ...readsOfPlan(reached, input)],
    ([before], [room], [holder], accounts) => {
      if (!before) throw visitNotFound();
      const next = mergeVisit(before, { room, holder, accounts }, input, now);
      // Where nothing changes, it shows the visit.
      const event = next === before ? "read" : "update";
      return {
        writes: [visitWrites.update(before, next)],
        entries: [
          visitEntry(context, event, reached),
          noteReferences({ organization_id, visit_id: id, digests }),
        ],
      };
    },
  );
  return withLinks(settings, visit);
}

/** Once more, it changes nothing. */
export async function cancelPlannedVisit(context: ClientContext, id: number): Promise<void> {
  const { db, now, caller } = context;
  const reached = { ...reachOf(caller), id };
  await decideAndWrite(db, [visitOfPath(reached)], ([before]) => {
    if (!before) throw visitNotFound();
    const visit = cancelVisit(before, now);
    if (visit === before) return { unchanged: before };
    return {
      writes: [visitWrites.update(before, visit)],
      entries: [visitEntry(context, "delete", reached)],
    };
  });
}

/** Digests of the references that a plan brings, as a JSON array. The earlier ones are stored already. */
const digestsIn = async (settings: Settings, { participants = [] }: UpdateVisit): Promise<string> =>
  JSON.stringify(
    await digestsOfReferences(
      settings,
      participants.flatMap(({ external_reference }) => external_reference ?? []),
    ),
  );

/** The reads on which a plan is decided: what it names, as far as the caller reaches it. */
const readsOfPlan = (reach: Reach, input: UpdateVisit) =>
  [
    roomOfPath({ ...reach, slug: input.waiting_room_slug ?? "" }),
    reachedUser({ ...reach, id: input.organization_user_id ?? 0 }),
    accountsAmong({
      organization_id: reach.organization_id,
      ids: JSON.stringify((input.participants ?? []).flatMap(({ user_id }) => user_id ?? [])),
    }),
  ] as const;

/** Who is invited by a link, and where they are to go now. It signs nobody in: links get forwarded. */
export async function redeemVisitLink(context: Context, token: string): Promise<RedeemedVisit> {
  const { db, now, settings } = context;
  const link = await verifyVisitToken(settings, token);
  const visit = await runFirst(db, visitOfLink({ ...link, now }));
  if (!visit) throw visitLinkNotValid();
  const participant = visit.participants.find(({ id }) => id === link.participant_id);
  if (!participant) throw visitLinkWithdrawn();
  if (visit.room_retired_at !== null) throw visitRoomRetired();
  if (visit.status === "cancelled") throw visitWasCancelled();
  if (visit.ends_at + VISIT_LINK_VALID_FOR <= now) throw visitIsOver();
  return { visit, participant, destination_slug: visit.destination_slug ?? visit.waiting_room_slug };
}
