/** Checks that the files of an access log match their seals, and that the service lists the entries in them. */
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import * as chain from "./access_log_chain.ts";
import {
  type AccessLogSource,
  type Check,
  failing,
  LONGEST_LINE,
  type VerifiedAccessLog,
} from "./access_log_types.ts";
import { linesOf } from "./ndjson.ts";

type Seal = chain.AccessLogSeal;

/** In milliseconds. The service deletes listed entries 400 days after their day was sealed; the files stay. */
const LISTED_FOR = 400 * 86_400_000;

/** The most entries in a seal. The next seal has the rest of the day. */
const FULL_SEAL = 1_000_000;

/** @returns undefined if the entry may be in the seal */
type FaultOf = (id: number, at: number, isFirst: boolean) => string | undefined;

/**
 * A seal is for the day of its first entry; if that entry came after its day was sealed, for the day after the previous seal.
 * It has the entries of its own day and late entries of the day before. After a full seal, it also has the rest of that seal's
 * days.
 */
function faultsOf(seal: Seal, seals: readonly Seal[]): FaultOf {
  const n = seals.indexOf(seal);
  const before = seals[n - 1];
  let first = n;
  while (first > 0 && Number(seals[first - 1]?.count) >= FULL_SEAL) first--;
  const since = Date.parse(seals[first]?.date ?? seal.date) - chain.DAY;
  const end = chain.endOfDate(seal.date);
  return (id, at, isFirst) => {
    if (Number.isNaN(at)) return `the entry ${id} has no time.`;
    const day = new Date(at).toISOString().slice(0, 10);
    if (at < since || at >= end) return `the entry ${id} is of ${day}.`;
    const isLate = before !== undefined && day <= before.date;
    const date = isLate ? chain.endOfDate(before.date) : Date.parse(day);
    if (isFirst && date !== Date.parse(seal.date))
      return `its first entry ${id} is of ${day}, which is not the day of the seal.`;
    return undefined;
  };
}

const PROGRESS_EVERY = 100_000;

async function verifyFile(
  source: AccessLogSource,
  seal: Seal,
  faultOf: FaultOf,
  list: Entries | null,
  progress: (entries: number) => void,
) {
  const fail = failing(seal.date);
  const bytes = (await source.file(seal.date)) ?? fail("The file of the day is missing.");
  const digest = createHash("sha256");
  const lines = linesOf(unpacked(bytes, digest, fail), LONGEST_LINE);
  let [count, first_id, last_id] = [0, 0, 0];
  // Kept until the whole file is read: if the file itself does not match its seal, report that fault instead.
  let unlike: string | undefined;
  let misplaced: string | undefined;
  for await (const line of lines) {
    const { id, at } = entryOf(line);
    if (!(id > last_id)) fail(`The file is not the one that was sealed: line ${count + 1} is out of order.`);
    misplaced ??= faultOf(id, at, first_id === 0);
    first_id ||= id;
    last_id = id;
    if (++count > seal.count)
      fail("The file is not the one that was sealed: it continues after the last entry.");
    if (count % PROGRESS_EVERY === 0) progress(count);
    if (list) unlike ??= await list.differenceFrom(line, id);
  }
  const found = { count, first_id, last_id };
  for (const [name, value] of Object.entries(found)) {
    const sealed = seal[name as keyof typeof found];
    if (value !== sealed)
      fail(`The file is not the one that was sealed: its ${name} is ${value}, but the seal says ${sealed}.`);
  }
  if (digest.digest("hex") !== seal.sha256)
    fail("The file is not the one that was sealed: its lines have another SHA-256.");
  if (misplaced) fail(`The date of the seal does not match its entries: ${misplaced}`);
  unlike ??= await list?.addedUpTo(seal.last_id);
  if (unlike) fail(`The service shows other entries than the sealed ones: ${unlike}`);
}

/** Reads the listed entries one by one, to compare each with the entry in the file. */
class Entries {
  readonly #lines: AsyncIterator<string>;
  #next: Promise<IteratorResult<string>> | undefined;

  constructor(lines: AsyncIterable<string> | string[]) {
    this.#lines = toAsync(lines);
  }

  /** Compares the next listed entry with a line of the file. If they are equal, moves past it and returns undefined. */
  async differenceFrom(line: string, id: number): Promise<string | undefined> {
    this.#next ??= this.#lines.next();
    const { value: listed, done } = await this.#next;
    if (listed === line) {
      this.#next = undefined;
      return undefined;
    }
    if (done) return `the entry ${id} is gone.`;
    const listedId = entryOf(listed).id;
    if (Number.isNaN(listedId)) return "a listed line is not an entry.";
    if (listedId > id) return `the entry ${id} is gone.`;
    if (listedId < id) return `the entry ${listedId} was added.`;
    return `the entry ${id} was changed: ${changesOf(line, listed)}.`;
  }

  async close(): Promise<void> {
    await this.#lines.return?.();
  }

  /** Finds a listed entry left over up to this id, the last one of the file. */
  async addedUpTo(id: number): Promise<string | undefined> {
    this.#next ??= this.#lines.next();
    const { value, done } = await this.#next;
    if (done || entryOf(value).id > id) return undefined;
    return `the entry ${entryOf(value).id} was added.`;
  }
}

async function* toAsync(lines: AsyncIterable<string> | string[]) {
  yield* lines;
}

function changesOf(sealed: string, listed: string): string {
  const [before, now] = [JSON.parse(sealed), JSON.parse(listed)];
  const isChanged = (name: string) => JSON.stringify(before[name]) !== JSON.stringify(now[name]);
  const names = Object.keys({ ...before, ...now }).filter(isChanged);
  const changes = names.map((name) => `${name} is ${now[name]}, but ${before[name]} was sealed`);
  return changes.length > 0 ? changes.join("; ") : "it is written in another way";
}

/** Returns NaN for the missing parts of a malformed entry. */
function entryOf(line: string): { id: number; at: number } {
  try {
    const { id, at } = JSON.parse(line) ?? {};
    return { id: Number(id ?? Number.NaN), at: Date.parse(at) };
  } catch {
    return { id: Number.NaN, at: Number.NaN };
  }
}

async function* unpacked(
  bytes: AsyncIterable<Uint8Array>,
  digest: { update(chunk: Uint8Array): unknown },
  fail: (fault: string) => never,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of Readable.from(bytes).pipe(createGunzip())) {
      digest.update(chunk);
      yield chunk;
    }
  } catch (error) {
    const isOfZlib = /^Z_|^ERR_/.test(String((error as { code?: string }).code));
    throw isOfZlib ? fail("The file is not the one that was sealed: it is not gzip.") : error;
  }
}

/** Compares each file with its seal and with the list. Reads both as streams, so memory does not grow with the log. */
export async function verifySource(source: AccessLogSource, check: Check): Promise<VerifiedAccessLog> {
  const { from, heads, now, onProgress } = check;
  if (from !== undefined && !chain.isDate(from))
    throw new TypeError("from: must be a date such as 2026-01-31");
  const { organization_id, seals } = chain.verifyChain(await source.seals(), await source.keys());
  chain.verifyHeads(seals, heads);
  const chosen = seals.filter(({ date }) => from === undefined || date >= from);
  const isListed = ({ date }: Seal) => chain.endOfDate(date) + LISTED_FOR > now;
  const firstListed = chosen.find(isListed);
  const before = firstListed && seals[seals.indexOf(firstListed) - 1];
  const list = new Entries(firstListed ? source.list(before?.last_id ?? 0) : []);
  let entries = 0;
  try {
    for (const seal of chosen) {
      const listed = isListed(seal) ? list : null;
      const progress = (more: number) => onProgress(seal.date, entries + more);
      await verifyFile(source, seal, faultsOf(seal, seals), listed, progress);
      entries += seal.count;
      progress(0);
    }
  } finally {
    await list.close();
  }
  const last = seals.at(-1);
  return {
    organization_id,
    entries,
    days: new Set(chosen.map(({ date }) => date)).size,
    head: last ? { date: last.date, seal_sha256: chain.sha256(last.jws) } : null,
    warnings: chain.warningsOf(seals, chosen, check),
  };
}
