import { and, eq, inArray, isNotNull, isNull, lt, or, sql } from "drizzle-orm";
import { keyedDigests } from "../../bytes/digest.ts";
import type { Context } from "../../context.ts";
import { builder, type Placeholders, preparedQuery, runAll } from "../../database/queries.ts";
import { calls, organizations, participants } from "../../database/schema.ts";
import { CRON_PORTION, DAY } from "../../limits.ts";
import type { Settings } from "../../settings.ts";
import type { Participant } from "./participants.schemas.ts";

/** The name of somebody whose name was erased. */
export const ERASED_NAME = "Participant";

/**
 * The keys that a report names. Of the key of somebody who is erased only a digest is left, by which a late report is
 * recognized.
 */
export async function namedKeys({ DIGEST_SECRET }: Settings, keys: string[]) {
  const digests = await keyedDigests(DIGEST_SECRET, keys);
  const keyOfDigest = new Map(digests.map((digest, n) => [digest, keys[n] as string]));
  return {
    /** For queries, as JSON arrays. */
    values: { keys: JSON.stringify(keys), digests: JSON.stringify(digests) },
    /**
     * Those who were found, with the keys of the report. Who visited again after an erasure is there once, as who visits
     * now.
     *
     * @param found by id: later visits come last
     */
    asReported<Found extends Pick<Participant, "key" | "erased_at">>(found: Found[]): Found[] {
      const erased = found.filter(({ erased_at }) => erased_at !== null);
      const known = found.filter(({ erased_at }) => erased_at === null);
      const before = erased.map((each) => ({ ...each, key: keyOfDigest.get(each.key) ?? each.key }));
      return [...new Map([...before, ...known].map((each) => [each.key, each])).values()];
    },
  };
}

/**
 * Erases the names and keys of participants whose visit is longer ago than their organization wants, a portion in one run.
 * What metrics, consents and audit entries need of them stays.
 */
export async function eraseParticipants({ db, now, settings }: Context): Promise<number> {
  const due = await runAll(db, participantsToErase({ now }));
  if (due.length === 0) return 0;
  const digests = await keyedDigests(
    settings.DIGEST_SECRET,
    due.map(({ key }) => key),
  );
  const items = due.map(({ id }, n) => ({ id, digest: digests[n] }));
  return (await runAll(db, erase({ items: JSON.stringify(items), now }))).length;
}

/** A visit is over when the participant has left, and the call with all that may still come of it has ended. */
const isOver = or(
  isNull(participants.call_id),
  inArray(
    participants.call_id,
    builder
      .select({ id: calls.id })
      .from(calls)
      .where(and(eq(calls.id, participants.call_id), isNotNull(calls.ended_at), eq(calls.legal_hold, false))),
  ),
);

const participantsToErase = preparedQuery(({ now }: Placeholders<{ now: number }>) =>
  builder
    .select({ id: participants.id, key: participants.key })
    .from(organizations)
    .crossJoin(participants)
    .where(
      and(
        isNotNull(organizations.participant_retention_days),
        eq(participants.organization_id, organizations.id),
        isNull(participants.erased_at),
        lt(
          participants.left_at,
          sql`${now} - ${organizations.participant_retention_days} * ${sql.raw(String(DAY))}`,
        ),
        isOver,
      ),
    )
    .limit(CRON_PORTION),
);

/** A hold that began meanwhile counts. */
const erase = preparedQuery(({ items, now }: Placeholders<{ items: string; now: number }>) =>
  builder
    .update(participants)
    .set({
      display_name: ERASED_NAME,
      key: sql`item.value ->> 'digest'`,
      livekit_said: null,
      erased_at: sql`${now}`,
      updated_at: sql`${now}`,
    })
    .from(sql`json_each(${items}) as item`)
    .where(
      and(
        eq(participants.id, sql`item.value ->> 'id'`),
        isNull(participants.erased_at),
        isNotNull(participants.left_at),
        isOver,
      ),
    )
    .returning({ id: participants.id }),
);
