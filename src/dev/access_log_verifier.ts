/**
 * The check of an organization's access log: its seals, their files, and what the service shows. It trusts nothing that comes
 * from the service but the public keys, and where receivers kept digests of seals, not these either.
 */
import { createHash } from "node:crypto";
import { calculateJwkThumbprint, compactVerify, importJWK } from "jose";
import { endOfDate } from "../http/dates.ts";
import { NEXT_SEAL_WITHIN } from "../lifetimes.ts";
import type { Seal } from "../resources/access_log_seals/access_log_seals.schemas.ts";
import { HOUR } from "../units.ts";
import { verifyFiles } from "./access_log_file_check.ts";
import { AccessLogFault, type AccessLogSource, type Check, failing, type Key } from "./access_log_source.ts";

export interface Verified {
  organization_id: number | null;
  entries: number;
  days: number;
  /** The newest seal. */
  head: { date: string; seal_sha256: string } | null;
  warnings: string[];
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
    const fail = failing(seal.date, seal.part);
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
    if (row.part !== (before?.date === row.date ? before.part + 1 : 1))
      fail("The seal is not that of the next part of its day.");
    if (before && (row.date < before.date || row.first_id <= before.last_id))
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
  ).catch((error) => {
    if (error instanceof AccessLogFault) throw error;
    return fail("The signature of the seal is wrong.");
  });
  if (verified.protectedHeader.typ !== "access-log-seal") fail("What is signed is no seal.");
  return JSON.parse(new TextDecoder().decode(verified.payload));
}

function verifyHeads(seals: Seal[], heads: [date: string, seal_sha256: string][]) {
  for (const [date, kept] of heads.toSorted(([a], [b]) => a.localeCompare(b))) {
    const ofDay = seals.filter((each) => each.date === date);
    const fail = failing(date);
    if (ofDay.length === 0)
      return fail(
        "There is no seal of this day, and a receiver kept its digest: the end of the chain is cut off, or the day was removed.",
      );
    if (!ofDay.some(({ jws }) => sha256(jws) === kept))
      fail(`The seal is not the one whose digest a receiver kept (${kept}): the day was sealed again.`);
  }
}
