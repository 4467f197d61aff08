import { shardOfSecret } from "../bytes/digest.ts";
import type { Context } from "../context.ts";
import { type Database, primaryOf } from "../database/database.ts";
import { type BoundQuery, decode, type RawRow, runAll, runRaw } from "../database/queries.ts";
import { ApiError } from "../http/errors.ts";
import { remember } from "../http/memory.ts";
import { CLAIM_KEPT_FOR, MAX_KNOWN_PLACES, PLACE_KNOWN_FOR } from "../limits.ts";
import { type Claim, type Contested, dropClaim, ownersRow, takeClaim } from "./claims.ts";
import {
  type Place,
  placeOfCall,
  placeOfEgress,
  placeOfId,
  placeOfOrganization,
  placeOfRoom,
  type WaitingEgress,
} from "./places.ts";

/*
 * The platform and LiveKit name things of any organization. A verb of theirs runs where the thing is:
 *
 * - Where this isolate has seen it lately. If it is not there (404), the directory is asked.
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

/** What triggers say of a claim that came between reading and writing (see triggers/shards.sql). */
const CLAIMED = "the key is claimed elsewhere";

/** Where things outside the first shard are. */
const knownPlaces = new Map<string, { shard: number; until: number }>();

/** What the directory said, beside the place. */
export interface Found {
  /** Keys that the verb names, and that another organization has claimed. */
  contested: Contested[];
  waiting: WaitingEgress[];
  /** What was claimed for the verb, and was nobody's before, or stood for nothing. */
  claimed: readonly Claim[];
}

const NOTHING_FOUND: Found = { contested: [], waiting: [], claimed: [] };

/** A verb, which may have to know what was found. */
export type Verb<Result> = (context: Context, found: Found) => Promise<Result>;

/**
 * Runs a verb where the thing is that it works on.
 *
 * @param isNamed whether the result is what the place names. If not, the names are of nothing yet, and are not remembered:
 * who brings them must claim them
 */
export async function inPlace<Result>(
  context: Context,
  place: Place,
  verb: Verb<Result>,
  isNamed: (result: Result) => boolean = () => true,
): Promise<Result> {
  const { shards, now } = context;
  if (!shards) return verb(context, NOTHING_FOUND);
  const known = recall(place, now);
  if (known !== undefined)
    try {
      return await verb(shards.at(known), NOTHING_FOUND);
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 404)) throw error;
      for (const name of place.names) knownPlaces.delete(name);
    }
  const claimed: Claim[] = [];
  return askingAgain(() => askAndRun(context, place, verb, isNamed, claimed));
}

/** Repeats what asks the directory, and is then refused because keys have got another owner. */
export async function askingAgain<Result>(ask: () => Promise<Result>): Promise<Result> {
  for (let question = 1; ; question++)
    try {
      return await ask();
    } catch (error) {
      const isOutdated = error instanceof Outdated || isClaimedElsewhere(error);
      if (!isOutdated || question === MAX_QUESTIONS) throw error;
    }
}

/** Keys of the verb have got another owner since the directory was asked. */
class Outdated extends Error {}

/** Owners hardly ever change while a request is under way. */
const MAX_QUESTIONS = 3;

async function askAndRun<Result>(
  context: Context,
  place: Place,
  verb: Verb<Result>,
  isNamed: (result: Result) => boolean,
  claimed: Claim[],
): Promise<Result> {
  const { shards, now } = context as Required<Context>;
  const own = shards.at(0);
  try {
    return await verb({ ...own, db: askingFirst(own.db, place) }, NOTHING_FOUND);
  } catch (error) {
    if (!(error instanceof Elsewhere)) throw error;
    const { shard } = error;
    claimed.push(...error.found.claimed.filter(({ claimed_at }) => claimed_at === now));
    const found = { ...error.found, claimed };
    if (await takeAbandoned(context, found.contested, claimed)) throw new Outdated();
    const result = await verb(shards.at(shard), found);
    if (shard > 0 && isNamed(result)) rememberPlace(place, shard, now, found);
    return result;
  }
}

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
        contested: foreign as Contested[],
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

/** True for a claim that a request left without a row, or that is so old that its owner is to be asked. */
const isAbandoned = ({ claimed_at }: Contested, now: number) => claimed_at < now - CLAIM_KEPT_FOR;

/**
 * Takes claims over that stand for nothing, because a request died before it wrote the row: the owner's shard has none.
 *
 * @param claimed gets those that are the claimant's now
 * @returns whether there were any
 */
async function takeAbandoned(
  { shards, now }: Context,
  contested: Contested[],
  claimed: Claim[],
): Promise<boolean> {
  if (!shards) return false;
  let isTaken = false;
  for (const claim of contested.filter((each) => isAbandoned(each, now))) {
    const { kind, key, claimant_id, claimant_shard } = claim;
    const rows = await runRaw(shards.at(claim.shard).db, [ownersRow[kind]({ key })]);
    if (rows[0]?.length) continue;
    // The keys of the first database are not in the directory.
    await runAll(shards.directory, claimant_shard === 0 ? dropClaim(claim) : takeClaim({ ...claim, now }));
    if (claimant_shard > 0) claimed.push({ kind, key, organization_id: claimant_id, claimed_at: now });
    isTaken = true;
  }
  return isTaken;
}

function isClaimedElsewhere(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause.message.includes(CLAIMED)) return true;
  return false;
}

/** The shard that is known for all names of the place. */
function recall({ names }: Place, now: number): number | undefined {
  const [first, ...others] = names.map((name) => knownPlaces.get(name));
  if (!first || first.until <= now) return undefined;
  const areThere = others.every((other) => other && other.until > now && other.shard === first.shard);
  return areThere ? first.shard : undefined;
}

/** A key of another organization is no place for who named it. */
function rememberPlace({ names }: Place, shard: number, now: number, { contested }: Found) {
  const foreign = contested.map(({ kind, key }) => `${kind}:${key}`);
  for (const name of names)
    if (!foreign.includes(name))
      remember(knownPlaces, name, { shard, until: now + PLACE_KNOWN_FOR }, MAX_KNOWN_PLACES);
}

/** Makes of a verb, whose first argument says where it works, one that runs there. */
const placedBy =
  <Name>(placeOf: (name: Name) => Place) =>
  <Args extends unknown[], Result>(verb: (context: Context, name: Name, ...args: Args) => Promise<Result>) =>
  (context: Context, name: Name, ...args: Args): Promise<Result> =>
    inPlace(context, placeOf(name), (there) => verb(there, name, ...args));

/** By the id of the organization. */
export const inOrganization = placedBy(placeOfOrganization);

/** By the slug of a waiting room. */
export const inRoom = placedBy(placeOfRoom);

/** By an id that any row may have. */
export const whereIdIs = placedBy(placeOfId);

/** By the key of a call that was reported. */
export const inCall = placedBy(placeOfCall);

/** By the id of an egress that was reported. */
export const whereEgressIs = placedBy(placeOfEgress);

/** The context in which to look for what a secret stands for; undefined where nothing is bound for the shard that it names. */
export function findContextOf(context: Context, secret: string, bytes: number): Context | undefined {
  const shard = shardOfSecret(secret, bytes);
  if (shard === context.shard) return context;
  return context.shards?.numbers.includes(shard) ? context.shards.at(shard) : undefined;
}
