import { createHash, generateKeyPairSync } from "node:crypto";
import { gzipSync } from "node:zlib";
import { publishedKeys, signSeal } from "../../../src/audit/access_log_seals/access_log_seals.keys.ts";
import type { Seal } from "../../../src/audit/access_log_seals/access_log_seals.sql.ts";
import type { AccessLogSource, Check } from "../../../src/client/access_log_types.ts";
import type { Settings } from "../../../src/settings.ts";

export const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

export type Entry = Record<string, unknown> & { id: number };

type SigningKey = NonNullable<Settings["AUDIT_SIGNING_KEY"]>;

export const aKey = () => generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" }) as SigningKey;

const toLines = (entries: Entry[]) => entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");

interface SealOptions {
  by?: SigningKey;
  organization_id?: number;
}

export interface SealedWeek {
  dates: string[];
  key: SigningKey;
  keys: SigningKey[];
  days: Map<string, Entry[]>;
  rows: Entry[];
  files: Map<string, Buffer>;
  seals: Seal[];
  heads: { date: string; seal_sha256: string }[];
  store: (date: string, entries: Entry[]) => void;
  /** Makes the seal of a day as the service does, following the previous seal. */
  seal: (date: string, entries: Entry[], options?: SealOptions) => Promise<Seal>;
  /** Seals a day and the days after it again, as anyone with a key can. */
  sealAgain: (from: string, options?: SealOptions) => Promise<void>;
  source: AccessLogSource;
  check: (more?: Partial<Check>) => Check;
}

/** A service with a sealed week of its access log, and an unfinished day. Tests tamper with it. */
export async function aSealedWeek({ each = 10, key = aKey() } = {}): Promise<SealedWeek> {
  const dates = [1, 2, 3, 4, 5, 6, 7].map((day) => `2026-03-0${day}`);
  let made = 0;
  const entriesOf = (date: string): Entry[] =>
    Array.from({ length: each }, (_, n) => ({
      // Other organizations use some of the ids.
      id: ++made * 3 + (n % 2),
      at: new Date(Date.parse(date) + n).toISOString(),
      event: "read",
      resource: "transcript",
      resource_id: 300 + n,
      request_id: crypto.randomUUID(),
      shown: [1, 2],
    }));
  const days = new Map(dates.map((date) => [date, entriesOf(date)]));
  const week: SealedWeek = {
    dates,
    key,
    keys: [key],
    rows: [...days.values(), entriesOf("2026-03-08")].flat(),
    files: new Map([...days].map(([date, entries]) => [date, gzipSync(toLines(entries))])),
    seals: [],
    heads: [],
    store: (date, entries) => void week.files.set(date, gzipSync(toLines(entries))),
    async seal(date, entries, { by = week.key, organization_id = 7 } = {}) {
      const before = week.seals.findLast((seal) => seal.date < date);
      const row = {
        date,
        count: entries.length,
        first_id: entries[0]?.id ?? 0,
        last_id: entries.at(-1)?.id ?? 0,
        sha256: sha256(toLines(entries)),
        previous: before ? sha256(before.jws) : null,
      };
      return { ...row, jws: await signSeal(by, { organization_id, ...row }) };
    },
    async sealAgain(from, options) {
      week.seals = week.seals.filter(({ date }) => date < from);
      for (const date of dates.filter((each) => each >= from))
        week.seals.push(await week.seal(date, week.days.get(date) ?? [], options));
    },
    days,
    source: {
      keys: () => publishedKeys({ AUDIT_PUBLIC_KEYS: week.keys } as unknown as Settings),
      seals: async () => week.seals,
      file: async (date) => {
        const file = week.files.get(date);
        return file ? chunksOf(file) : null;
      },
      async *list(after) {
        for (const row of week.rows) if (row.id > after) yield JSON.stringify(row);
      },
    },
    check: (more = {}) => ({
      heads: week.heads,
      now: Date.parse("2026-03-08T12:00:00Z"),
      from: undefined,
      onProgress: () => {},
      ...more,
    }),
  };
  await week.sealAgain("2026-03-01");
  return week;
}

/** Splits a file into pieces that end within lines and within characters. */
export async function* chunksOf(file: Buffer) {
  for (let n = 0; n < file.length; n += 1000) yield file.subarray(n, n + 1000);
}
