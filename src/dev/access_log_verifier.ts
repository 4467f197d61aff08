/**
 * The check of an organization's access log: its seals, their files, and what the service shows. It trusts nothing that comes
 * from the service but the public keys, and where receivers kept digests of seals, not these either.
 */
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { calculateJwkThumbprint, compactVerify, importJWK } from "jose";
import { endOfDate } from "../http/dates.ts";
import { ACCESS_LOGS_KEPT_FOR, HOUR, NEXT_SEAL_WITHIN } from "../limits.ts";
import type { Seal } from "../resources/access_log_seals/access_log_seals.schemas.ts";

interface Key {
  kty: string;
  crv: string;
  x: string;
  kid: string;
}

/** Where all comes from. */
export interface AccessLogSource {
  keys(): Promise<Key[]>;
  /** All seals, oldest first. */
  seals(): Promise<Seal[]>;
  /** The bytes of a day's file; null if there is none. */
  file(date: string): Promise<AsyncIterable<Uint8Array> | null>;
  /** What the list shows after an id, as lines of NDJSON. */
  list(after: number): AsyncIterable<string>;
}

export interface Check {
  /** Files before this date are not read. Seals are all checked. */
  from?: string | undefined;
  /** Digests of seals that receivers kept, by date. */
  heads: Map<string, string>;
  now: number;
  progress: (date: string, entries: number) => void;
}

export interface Verified {
  organization_id: number | null;
  entries: number;
  days: number;
  /** The newest seal. */
  head: { date: string; seal_sha256: string } | null;
  warnings: string[];
}

/** The first fault that was found, and the day that it is about. */
export class AccessLogFault extends Error {
  constructor(date: string, fault: string) {
    super(`${date}: ${fault}`);
  }
}

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/** @throws AccessLogFault */
export async function verifyAccessLog(source: AccessLogSource, check: Check): Promise<Verified> {
  const seals = await source.seals();
  const organization_id = await verifyChain(seals, await source.keys());
  verifyHeads(seals, check.heads);
  const chosen = seals.filter(({ date }) => !check.from || date >= check.from);
  const entries = await verifyFiles(source, seals, chosen, check);
  const last = seals.at(-1);
  return {
    organization_id,
    entries,
    days: chosen.length,
    head: last ? { date: last.date, seal_sha256: sha256(last.jws) } : null,
    warnings: warningsOf(last, check.now),
  };
}

function warningsOf(last: Seal | undefined, now: number): string[] {
  if (!last) return ["No day is sealed yet."];
  if (now - endOfDate(last.date) <= NEXT_SEAL_WITHIN) return [];
  return [
    `The newest seal is that of ${last.date}, which ended more than ${NEXT_SEAL_WITHIN / HOUR} hours ago. If anything was recorded since, ask the operator why it is not sealed.`,
  ];
}

/** Every signature, what it signs, and that each seal follows the one before. */
async function verifyChain(seals: Seal[], published: Key[]): Promise<number | null> {
  const keys = new Map(
    await Promise.all(published.map(async (key) => [key.kid, await opened(key)] as const)),
  );
  let before: Seal | undefined;
  let organization_id: number | null = null;
  for (const seal of seals) {
    const { jws, ...row } = seal;
    const fail = (fault: string): never => {
      throw new AccessLogFault(seal.date, fault);
    };
    const { organization_id: owner, ...signed } = await signedBy(keys, jws, fail);
    for (const [name, value] of Object.entries(row))
      if (signed[name] !== value) fail(`The seal says ${name} ${value}, and ${signed[name]} was signed.`);
    organization_id ??= Number(owner);
    if (owner !== organization_id) fail("The seal is that of another organization.");
    const previous = before ? sha256(before.jws) : null;
    if (row.previous !== previous)
      fail(
        before
          ? `The seal does not follow that of ${before.date}: a seal between them is missing, or that one was made again.`
          : "The first seal follows another one, which is missing.",
      );
    if (before && (row.date <= before.date || row.first_id <= before.last_id))
      fail(`The seal has the date or entries of that of ${before.date}.`);
    before = seal;
  }
  return organization_id;
}

/** A key whose id is not its thumbprint is none. */
async function opened({ kty, crv, x, kid }: Key) {
  const isIts = kid === (await calculateJwkThumbprint({ kty, crv, x }));
  return isIts ? importJWK({ kty, crv, x }, "EdDSA") : null;
}

type OpenedKeys = Map<string, Awaited<ReturnType<typeof opened>>>;

async function signedBy(
  keys: OpenedKeys,
  jws: string,
  fail: (fault: string) => never,
): Promise<Record<string, unknown>> {
  const verified = await compactVerify(
    jws,
    ({ kid = "" }) => keys.get(kid) ?? fail(`The seal is signed with a key that is not published: ${kid}.`),
    { algorithms: ["EdDSA"] },
  ).catch((error) =>
    error instanceof AccessLogFault
      ? fail(error.message.replace(/^\S+: /, ""))
      : fail("The signature of the seal is wrong."),
  );
  if (verified.protectedHeader.typ !== "access-log-seal") fail("What is signed is no seal.");
  return JSON.parse(new TextDecoder().decode(verified.payload));
}

function verifyHeads(seals: Seal[], heads: Map<string, string>) {
  for (const [date, kept] of [...heads].sort(([a], [b]) => a.localeCompare(b))) {
    const seal = seals.find((each) => each.date === date);
    if (!seal)
      throw new AccessLogFault(
        date,
        "There is no seal of this day, and a receiver kept its digest: the end of the chain is cut off, or the day was removed.",
      );
    if (sha256(seal.jws) !== kept)
      throw new AccessLogFault(
        date,
        `The seal is not the one whose digest a receiver kept (${kept}): the day was sealed again.`,
      );
  }
}

/** Each file against its seal and against the list. They are read beside each other, so neither is ever held as a whole. */
async function verifyFiles(
  source: AccessLogSource,
  seals: Seal[],
  chosen: Seal[],
  { now, progress }: Check,
): Promise<number> {
  // What was sealed so long ago may be deleted, and is only in the files.
  const isListed = ({ date }: Seal) => endOfDate(date) + ACCESS_LOGS_KEPT_FOR > now;
  const firstListed = chosen.find(isListed);
  const before = firstListed && seals[seals.indexOf(firstListed) - 1];
  const list = new Entries(firstListed ? source.list(before?.last_id ?? 0) : []);
  let entries = 0;
  for (const seal of chosen) {
    await verifyFile(source, seal, isListed(seal) ? list : null, (more) =>
      progress(seal.date, entries + more),
    );
    entries += seal.count;
    progress(seal.date, entries);
  }
  return entries;
}

/** So often somebody who waits sees that it goes on. */
const PROGRESS_EVERY = 100_000;

async function verifyFile(
  source: AccessLogSource,
  seal: Seal,
  list: Entries | null,
  progress: (entries: number) => void,
) {
  const fail = (fault: string): never => {
    throw new AccessLogFault(seal.date, fault);
  };
  const bytes = (await source.file(seal.date)) ?? fail("The file of the day is missing.");
  const digest = createHash("sha256");
  const lines = linesOf(unpacked(bytes, digest, fail));
  let [count, first_id, last_id] = [0, 0, 0];
  // Where the file is not the sealed one, that is the fault, and not how the list differs from it.
  let unlike: string | undefined;
  for await (const line of lines) {
    const id = idOf(line);
    if (!(id > last_id)) fail(`The file is not the one that was sealed: line ${count + 1} is out of order.`);
    first_id ||= id;
    last_id = id;
    if (++count % PROGRESS_EVERY === 0) progress(count);
    if (list) unlike ??= await list.differenceFrom(line, id);
  }
  const found = { count, first_id, last_id };
  for (const [name, value] of Object.entries(found)) {
    const sealed = seal[name as keyof typeof found];
    if (value !== sealed)
      fail(
        `The file is not the one that was sealed: its ${name} is ${value}, and that of the seal ${sealed}.`,
      );
  }
  if (digest.digest("hex") !== seal.sha256)
    fail("The file is not the one that was sealed: its lines have another SHA-256.");
  if (unlike) fail(`The service shows other entries than those that were sealed: ${unlike}`);
  await list?.skipThrough(seal.last_id);
}

/** What the list shows, entry by entry. */
class Entries {
  readonly #lines: AsyncIterator<string>;
  #next: Promise<IteratorResult<string>> | undefined;

  constructor(lines: AsyncIterable<string> | string[]) {
    this.#lines = toAsync(lines);
  }

  /** How the next entry differs from one of a file; undefined if it is that one, which is then behind. */
  async differenceFrom(line: string, id: number): Promise<string | undefined> {
    this.#next ??= this.#lines.next();
    const { value: listed, done } = await this.#next;
    if (listed === line) {
      this.#next = undefined;
      return undefined;
    }
    if (done) return `the entry ${id} is gone.`;
    const listedId = idOf(listed);
    if (listedId > id) return `the entry ${id} is gone.`;
    if (listedId < id) return `the entry ${listedId} was added.`;
    return `the entry ${id} was changed: ${changesOf(line, listed)}.`;
  }

  /** @throws AccessLogFault never: a difference before was thrown already */
  async skipThrough(id: number): Promise<void> {
    for (;;) {
      this.#next ??= this.#lines.next();
      const { value, done } = await this.#next;
      if (done || idOf(value) > id) return;
      this.#next = undefined;
    }
  }
}

async function* toAsync(lines: AsyncIterable<string> | string[]) {
  yield* lines;
}

function changesOf(sealed: string, listed: string): string {
  const [before, now] = [JSON.parse(sealed), JSON.parse(listed)];
  const names = Object.keys({ ...before, ...now }).filter((name) => before[name] !== now[name]);
  return names.map((name) => `${name} is ${now[name]}, and ${before[name]} was sealed`).join("; ");
}

/** NaN for what is no entry. */
function idOf(line: string): number {
  try {
    return Number(JSON.parse(line).id);
  } catch {
    return Number.NaN;
  }
}

async function* unpacked(
  bytes: AsyncIterable<Uint8Array>,
  digest: { update(chunk: Uint8Array): unknown },
  fail: (fault: string) => never,
): AsyncGenerator<Uint8Array> {
  const packed = Readable.from(bytes);
  const gunzip = createGunzip();
  // A connection that breaks is no fault of the file.
  let broken: Error | undefined;
  packed.on("error", (error) => {
    broken = error;
    gunzip.destroy(error);
  });
  try {
    for await (const chunk of packed.pipe(gunzip)) {
      digest.update(chunk);
      yield chunk;
    }
  } catch (error) {
    throw (
      broken ?? (isOfZlib(error) ? fail("The file is not the one that was sealed: it is no gzip.") : error)
    );
  }
}

const isOfZlib = (error: unknown) => /^Z_|^ERR_/.test(String((error as { code?: string }).code));

/** The lines without their newlines. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest !== "") yield rest;
}
