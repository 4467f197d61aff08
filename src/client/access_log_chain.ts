/** The seals of an access log: what was signed, by whom, and that each follows the one before. */
import { createHash, createPublicKey, verify } from "node:crypto";
import type { AccessLogSeal } from "../../dist/client/external/types.gen.js";
import { AccessLogFault, failing } from "./access_log_faults.ts";

export type { AccessLogSeal };

/** A key as `/.well-known/jwks.json` shows it (RFC 8037). */
export interface PublishedKey {
  kty: string;
  crv: string;
  x: string;
  kid: string;
}

/** In milliseconds. */
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** A day is sealed an hour after it is over, and the next one a day later. */
const NEXT_SEAL_WITHIN = 26 * HOUR;

export const endOfDate = (date: string): number => Date.parse(date) + DAY;

export const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/**
 * Checks seals alone, without files and entries: as `GET /access_log_seals` lists them, all of them, oldest first.
 *
 * @param heads digests that receivers kept
 * @throws AccessLogFault naming the day and the first fault
 */
export function verifySeals(
  seals: readonly AccessLogSeal[],
  keys: readonly PublishedKey[],
  heads: readonly { date: string; seal_sha256: string }[] = [],
): void {
  verifyChain(seals, keys);
  verifyHeads(seals, heads);
}

/** Every signature, what it signs, and that each seal follows the one before. */
export function verifyChain(
  seals: readonly AccessLogSeal[],
  published: readonly PublishedKey[],
): number | null {
  const keys = new Map(published.map((key) => [key.kid, opened(key)] as const));
  let before: AccessLogSeal | undefined;
  let organization_id: number | null = null;
  for (const seal of seals) {
    const { jws, ...row } = seal;
    const fail = failing(seal.date, seal.part);
    const { organization_id: owner, ...signed } = signedBy(keys, jws, fail);
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
    if (row.part !== (before?.date === row.date ? before.part + 1 : 1))
      fail("The seal is not that of the next part of its day.");
    if (before && (row.date < before.date || row.first_id <= before.last_id))
      fail(`The seal has the date or entries of that of ${before.date}.`);
    before = seal;
  }
  return organization_id;
}

/** A key whose id is not its thumbprint (RFC 7638) is none. */
function opened({ kty, crv, x, kid }: PublishedKey) {
  const thumbprint = createHash("sha256").update(JSON.stringify({ crv, kty, x })).digest("base64url");
  return kid === thumbprint ? createPublicKey({ key: { kty, crv, x }, format: "jwk" }) : undefined;
}

type OpenedKeys = Map<string, ReturnType<typeof opened>>;

function signedBy(keys: OpenedKeys, jws: string, fail: (fault: string) => never): Record<string, unknown> {
  const [header = "", payload = "", signature = ""] = jws.split(".");
  const { alg, typ, kid } = decoded(header) ?? fail("The signature of the seal is wrong.");
  const key = keys.get(String(kid));
  if (!key) return fail(`The seal is signed with a key that is not published: ${kid}.`);
  const isRight =
    alg === "EdDSA" &&
    key.asymmetricKeyType === "ed25519" &&
    verify(null, Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, "base64url"));
  if (!isRight) fail("The signature of the seal is wrong.");
  if (typ !== "access-log-seal") fail("What is signed is no seal.");
  return decoded(payload) ?? fail("What is signed is no seal.");
}

/** An object of a JWS; undefined of what is none. */
function decoded(part: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(Buffer.from(part, "base64url").toString());
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

export function verifyHeads(
  seals: readonly AccessLogSeal[],
  heads: readonly { date: string; seal_sha256: string }[],
): void {
  for (const { date, seal_sha256 } of [...heads].sort((a, b) => a.date.localeCompare(b.date))) {
    const ofDay = seals.filter((each) => each.date === date);
    if (ofDay.length === 0)
      throw new AccessLogFault(
        date,
        "There is no seal of this day, and a receiver kept its digest: the end of the chain is cut off, or the day was removed.",
      );
    if (!ofDay.some(({ jws }) => sha256(jws) === seal_sha256.toLowerCase()))
      throw new AccessLogFault(
        date,
        `The seal is not the one whose digest a receiver kept (${seal_sha256}): the day was sealed again.`,
      );
  }
}

export function warningsOf(last: AccessLogSeal | undefined, now: number): string[] {
  if (!last) return ["No day is sealed yet."];
  if (now - endOfDate(last.date) <= NEXT_SEAL_WITHIN) return [];
  return [
    `The newest seal is that of ${last.date}, which ended more than ${NEXT_SEAL_WITHIN / HOUR} hours ago. If anything was recorded since, ask the operator why it is not sealed.`,
  ];
}
