/** Verifies the seals of an access log: their signatures, the signed claims, and the chain from each seal to the one before. */
import { createHash, createPublicKey, type KeyObject, verify } from "node:crypto";
import type { AccessLogSeal } from "../../dist/client/external/types.gen.js";
import { AccessLogFault, failing, type PublishedKey } from "./access_log_types.ts";
import { decoded } from "./vcons.ts";

export type { AccessLogSeal, PublishedKey };

const HOUR = 3_600_000;
export const DAY: number = 24 * HOUR;

/** The service seals a day an hour after it ends, so the next seal is due 25 hours after the end of the last sealed day. */
const NEXT_SEAL_WITHIN = 26 * HOUR;

export const endOfDate = (date: string): number => Date.parse(date) + DAY;

export const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

type Claims = Omit<AccessLogSeal, "jws"> & { organization_id: number };

interface Chain {
  organization_id: number | null;
  seals: AccessLogSeal[];
}

/**
 * Checks only the seals, not the files or the entries.
 *
 * @param seals all seals from `GET /access_log_seals`, oldest first
 * @param heads digests that your webhook receivers kept
 * @throws AccessLogFault for the first fault found, with its day
 */
export function verifySeals(
  seals: readonly AccessLogSeal[],
  keys: readonly PublishedKey[],
  heads: readonly { date: string; seal_sha256: string }[] = [],
): void {
  verifyHeads(verifyChain(seals, keys).seals, heads);
}

/**
 * Checks every signature and its claims, and that each seal follows the one before.
 *
 * @returns the signed claims; no other part of a seal can be trusted
 */
export function verifyChain(rows: readonly AccessLogSeal[], published: readonly PublishedKey[]): Chain {
  const keys = new Map(published.flatMap(opened));
  const chain: Chain = { organization_id: null, seals: [] };
  for (const row of rows) {
    const fail = failing(String(row?.date));
    const { organization_id: owner, ...seal } = signedBy(keys, row, fail);
    for (const [name, value] of Object.entries(seal)) {
      const said = row[name as keyof AccessLogSeal];
      if (said !== value) fail(`The seal says ${name} ${said}, but ${value} was signed.`);
    }
    chain.organization_id ??= owner;
    if (owner !== chain.organization_id) fail("The seal belongs to another organization.");
    const before = chain.seals.at(-1);
    const previous = before ? sha256(before.jws) : null;
    if (seal.previous !== previous)
      fail(
        before
          ? `The seal does not follow the seal of ${before.date}: one between them is missing, or that day was sealed again.`
          : "The first seal follows another one, which is missing.",
      );
    if (seal.last_id < seal.first_id || seal.count > seal.last_id - seal.first_id + 1)
      fail(`The seal cannot have ${seal.count} entries from ${seal.first_id} to ${seal.last_id}.`);
    if (before && (seal.date <= before.date || seal.first_id <= before.last_id))
      fail(`The seal repeats the date or entries of the seal of ${before.date}.`);
    chain.seals.push(seal);
  }
  return chain;
}

/** Ignores a key whose id is not its thumbprint (RFC 7638), and a key that is not Ed25519. */
function opened(key: PublishedKey): [string, KeyObject][] {
  const { kty, crv, x, kid } = (key ?? {}) as Partial<PublishedKey>;
  if (kty !== "OKP" || crv !== "Ed25519" || !x || !kid) return [];
  const thumbprint = createHash("sha256").update(JSON.stringify({ crv, kty, x })).digest("base64url");
  if (kid !== thumbprint) return [];
  try {
    return [[kid, createPublicKey({ key: { kty, crv, x }, format: "jwk" })]];
  } catch {
    return [];
  }
}

/** The signature must be exactly 64 bytes in base64url: otherwise one seal could be written in several ways. */
const JWS = /^([\w-]{1,1000})\.([\w-]{1,4000})\.([\w-]{86})$/;

function signedBy(
  keys: Map<string, KeyObject>,
  row: AccessLogSeal,
  fail: (fault: string) => never,
): Claims & { jws: string } {
  const jws = String(row?.jws);
  const [, header = "", payload = "", signature = ""] = JWS.exec(jws) ?? [];
  const { alg, typ, kid } = decoded(header) ?? fail("The signature of the seal is wrong.");
  const key = keys.get(String(kid)) ?? fail(`The seal is signed with a key that is not published: ${kid}.`);
  const signed = Buffer.from(`${header}.${payload}`);
  if (alg !== "EdDSA" || !verify(null, signed, key, Buffer.from(signature, "base64url")))
    fail("The signature of the seal is wrong.");
  const claims = decoded(payload);
  if (typ !== "access-log-seal" || !claims || !isSeal(claims))
    return fail("The signed content is not a seal.");
  return { ...claims, jws };
}

const isCount = (value: unknown) => Number.isSafeInteger(value) && Number(value) > 0;
const isDigest = (value: unknown) => typeof value === "string" && /^[0-9a-f]{64}$/.test(value);

/** The checks of the signed claims. A seal must have exactly these claims. */
const CLAIMS: Record<keyof Claims, (value: unknown) => boolean> = {
  organization_id: isCount,
  date: (value) => typeof value === "string" && isDate(value),
  count: isCount,
  first_id: isCount,
  last_id: isCount,
  sha256: isDigest,
  previous: (value) => value === null || isDigest(value),
};

const isSeal = (claims: Record<string, unknown>): claims is Record<string, unknown> & Claims =>
  Object.keys(claims).length === Object.keys(CLAIMS).length &&
  Object.entries(CLAIMS).every(([name, holds]) => holds(claims[name]));

/** Whether the text is a date that exists, such as `2026-01-31`. */
export const isDate = (text: string): boolean =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) &&
  !Number.isNaN(Date.parse(text)) &&
  new Date(text).toISOString().startsWith(text);

/** @throws TypeError for a malformed head */
export function verifyHeads(
  seals: readonly AccessLogSeal[],
  heads: readonly { date: string; seal_sha256: string }[],
): void {
  for (const { date, seal_sha256 } of heads)
    if (!isDate(date) || !isDigest(seal_sha256.toLowerCase()))
      throw new TypeError("heads: each must be a date such as 2026-01-31, and a SHA-256 in hex");
  for (const { date, seal_sha256 } of [...heads].sort((a, b) => a.date.localeCompare(b.date))) {
    const seal = seals.find((each) => each.date === date);
    if (!seal)
      throw new AccessLogFault(
        date,
        "This day has no seal, but a receiver kept its digest: the end of the chain is cut off, or the day was removed.",
      );
    if (sha256(seal.jws) !== seal_sha256.toLowerCase())
      throw new AccessLogFault(
        date,
        `The seal is not the one whose digest a receiver kept (${seal_sha256}): the day was sealed again.`,
      );
  }
}

/** Findings that are not faults, but worth asking the operator about. */
export function warningsOf(
  seals: readonly AccessLogSeal[],
  chosen: readonly AccessLogSeal[],
  { from, heads, now }: { from: string | undefined; heads: readonly unknown[]; now: number },
): string[] {
  const last = seals.at(-1);
  if (!last) return ["No day is sealed yet."];
  return [
    ...(chosen.length === 0 ? [`No day from ${from} on is sealed: no file was read.`] : []),
    ...(heads.length === 0
      ? [
          "No digest kept by a receiver was given: days missing at the end, or a log that was signed again, cannot be detected.",
        ]
      : []),
    ...(now - endOfDate(last.date) > NEXT_SEAL_WITHIN
      ? [
          `The newest seal is for ${last.date}, which ended more than ${NEXT_SEAL_WITHIN / HOUR} hours ago. If anything was recorded since, ask the operator why it is not sealed.`,
        ]
      : []),
  ];
}
