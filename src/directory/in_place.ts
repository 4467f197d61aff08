import { shardOfSecret } from "../bytes/digest.ts";
import type { Context } from "../context.ts";
import { type Database, primaryOf } from "../database/database.ts";
import { WriteConflict } from "../database/decide_and_write.ts";
import { type BoundQuery, decode, type RawRow, runRaw } from "../database/queries.ts";
import { ApiError } from "../http/errors.ts";
import { NoCallHere } from "../livekit/egresses.ts";
import { type Claim, type ContestedClaim, takeFenceAway } from "./claims.ts";
import { forgetPlace, recall, rememberPlace } from "./known_places.ts";
import {
  type Place,
  placeOfId,
  placeOfKey,
  placeOfOrganization,
  placeOfRoom,
  type WaitingEgress,
} from "./places.ts";
import { dropUnused, isClaimedElsewhere, takeAbandoned } from "./unused_claims.ts";

/*
 * The platform and LiveKit name things of any organization. A verb of theirs runs where the thing is:
 *
 * - Where this isolate has seen it lately. If it is not there (404), or a report is refused there, the directory is asked.
 * - Else in the directory's own database, with the question where it is in the first batch. If it is there, the verb has run
 *   at no further cost. If not, the batch has found and changed nothing of what it looked for: the verb starts again in the
 *   shard that the directory names.
 */

/** The verb wants another database, or must know what was found. */
class Elsewhere extends Error {
  readonly shard: number;
  readonly found: Found;

  constructor(shard: number, found: Found) {
    super("elsewhere");
    this.shard = shard;
    this.found = found;
  }
}

/** What the directory said, beside the place. */
export interface Found {
  /** Keys that the verb names, and that another organization has claimed. */
  contested: ContestedClaim[];
  waiting: WaitingEgress[];
  /** Keys that are claimed for the verb. */
  claimed: Claim[];
}

const NOTHING_FOUND: Found = { contested: [], waiting: [], claimed: [] };

/** A verb, which may have to know what was found. */
export type Verb<Result> = (context: Context, found: Found) => Promise<Result>;

/**
 * Runs a verb where the thing is that it works on.
 *
 * @param placeNow the place, with the time for claims: each question makes them again
 * @param isNamed false if the key in the report is not yet the key of a row: then its place is not remembered
 */
export async function inPlace<Result>(
  context: Context,
  placeNow: () => Place,
  verb: Verb<Result>,
  isNamed: (result: Result) => boolean = () => true,
): Promise<Result> {
  const { shards, now } = context;
  if (!shards) return verb(context, NOTHING_FOUND);
  const place = placeNow();
  const known = recall(place, now);
  if (known !== undefined)
    try {
      return await verb(shards.enter(known), NOTHING_FOUND);
    } catch (error) {
      if (!isOfPlace(error, place)) throw error;
      forgetPlace(place);
    }
  return askingAgain((isRepeated) => askAndRun(context, placeNow(), verb, isNamed, isRepeated));
}

/** True for an error that another place may put right. A refused report may name what is in another shard. */
const isOfPlace = (error: unknown, { claims }: Place): boolean =>
  isClaimedElsewhere(error) ||
  (error instanceof ApiError && (error.status === 404 || (error.status === 422 && claims.length > 0)));

/**
 * Repeats what asks the directory, and is then refused because keys have got another owner.
 *
 * @throws WriteConflict if they keep changing
 */
export async function askingAgain<Result>(ask: (isRepeated: boolean) => Promise<Result>): Promise<Result> {
  for (let question = 1; ; question++)
    try {
      return await ask(question > 1);
    } catch (error) {
      const isOutdated = error instanceof Outdated || isClaimedElsewhere(error);
      // Nothing is asked again that has been asked often enough.
      if (!isOutdated || error instanceof WriteConflict) throw error;
      if (question === MAX_QUESTIONS)
        throw new WriteConflict("The owners of keys kept changing", { cause: error });
    }
}

/** Keys of the verb have got another owner since the directory was asked. */
class Outdated extends Error {}

/** Owners hardly ever change while a request is under way. An egress and its file may be taken over one after the other. */
const MAX_QUESTIONS = 5;

async function askAndRun<Result>(
  context: Context,
  place: Place,
  verb: Verb<Result>,
  isNamed: (result: Result) => boolean,
  isRepeated: boolean,
): Promise<Result> {
  const { shards, now } = context as Required<Context>;
  const own = shards.enter(0);
  try {
    return await verb({ ...own, db: askingFirst(own.db, place) }, NOTHING_FOUND);
  } catch (error) {
    if (!(error instanceof Elsewhere)) throw error;
    const { shard, found } = error;
    const taken = await takeAbandoned(context, found.contested);
    if (taken.length > 0) {
      // Until now, the file of an egress that is taken over was claimed for the organization that had the egress.
      const losers = taken.map(({ organization_id }) => organization_id);
      const lost = found.claimed.filter(({ organization_id }) => losers.includes(organization_id));
      await dropUnused(context, shard, lost);
      throw new Outdated();
    }
    const there = shards.enter(shard);
    if (isRepeated && found.claimed.length > 0) await runRaw(there.db, found.claimed.map(takeFenceAway));
    const result = await verb(there, found).catch(async (refusal) => {
      if (isRefusal(refusal)) await dropUnused(context, shard, found.claimed);
      throw refusal;
    });
    if (shard > 0 && isNamed(result)) rememberPlace(place, shard, now, found.contested);
    return result;
  }
}

const isRefusal = (error: unknown) =>
  error instanceof NoCallHere || (error instanceof ApiError && error.status < 500);

/** A database that asks the directory where the thing is, in the batch of the first statement. */
function askingFirst(db: Database, { claims, contested, waiting, find }: Place): Database {
  const primary = primaryOf(db);
  const originals = new WeakMap<D1PreparedStatement, D1PreparedStatement>();
  let isAsked = false;

  async function batch<Row>(wanted: D1PreparedStatement[]): Promise<D1Result<Row>[]> {
    const statements = wanted.map((each) => originals.get(each) ?? each);
    if (isAsked) return primary.batch<Row>(statements);
    const asked: BoundQuery<unknown>[][] = [claims, contested, waiting, [find]];
    const questions = asked.flat();
    const results = await primary.batch<Row>([
      ...questions.map(({ compiled, params }) => primary.prepare(compiled.text).bind(...params)),
      ...statements,
    ]);
    isAsked = true;
    const answers = results.values();
    const [claimed = [], foreign = [], waits = [], [place] = []] = asked.map((group) =>
      group.flatMap((query) => decode(query, (answers.next().value?.results ?? []) as RawRow[])),
    );
    const shard = (place as { shard: number } | undefined)?.shard ?? 0;
    if (shard !== 0 || foreign.length > 0)
      throw new Elsewhere(shard, {
        contested: foreign as ContestedClaim[],
        waiting: waits as WaitingEgress[],
        claimed: claimed as Claim[],
      });
    return results.slice(questions.length);
  }

  /** A statement that runs as a batch when its rows are asked for: all that is asked of one (see queries.ts). */
  function asBatch(statement: D1PreparedStatement): D1PreparedStatement {
    const wrapper = {
      bind: (...values: unknown[]) => asBatch(statement.bind(...values)),
      all: async () => (await batch([statement]))[0],
    } as unknown as D1PreparedStatement;
    originals.set(wrapper, statement);
    return wrapper;
  }

  return { batch, prepare: (text) => asBatch(primary.prepare(text)) };
}

/** Makes of a verb, whose first argument says where it works, one that runs there. */
const placedBy =
  <Name>(placeOf: (name: Name) => Place) =>
  <Args extends unknown[], Result>(verb: (context: Context, name: Name, ...args: Args) => Promise<Result>) =>
  (context: Context, name: Name, ...args: Args): Promise<Result> =>
    inPlace(
      context,
      () => placeOf(name),
      (there) => verb(there, name, ...args),
    );

/** By the id of the organization. */
export const inOrganization = placedBy(placeOfOrganization);

/** By the slug of a waiting room. */
export const inRoom = placedBy(placeOfRoom);

/** By an id that any row may have. */
export const inRangeOfId = placedBy(placeOfId);

/** By the key of a call that was reported. */
export const inCall = placedBy(placeOfKey("call"));

/** By the id of an egress that was reported. */
export const inEgress = placedBy(placeOfKey("egress"));

/** The context in which to look for what a secret stands for; undefined where nothing is bound for the shard that it names. */
export function findContextOf(context: Context, secret: string, bytes: number): Context | undefined {
  const shard = shardOfSecret(secret, bytes);
  if (shard === context.shard) return context;
  return context.shards?.numbers.includes(shard) ? context.shards.enter(shard) : undefined;
}
