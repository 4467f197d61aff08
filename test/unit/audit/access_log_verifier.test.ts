import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { signSeal } from "../../../src/audit/access_log_seals/access_log_seals.keys.ts";
import { verifySource } from "../../../src/client/access_log_files.ts";
import { AccessLogFault } from "../../../src/client/access_log_types.ts";
import { SEAL, SEAL_BEFORE, SEAL_SHA256 } from "../../../src/openapi/story.ts";
import { aKey, aSealedWeek, type Entry, type SealedWeek, sha256 } from "../support/sealed_week.ts";

const verify = (week: SealedWeek, more = {}) => verifySource(week.source, week.check(more));

const DAY = "2026-03-04";

const entriesOf = (week: SealedWeek): Entry[] => week.days.get(DAY) ?? [];

const rowOf = (week: SealedWeek, n: number): Entry => {
  const { id } = entriesOf(week)[n] as Entry;
  return week.rows.find((row) => row.id === id) as Entry;
};

const keep = (week: SealedWeek, date: string) =>
  week.heads.push({ date, seal_sha256: sha256(week.seals.find((seal) => seal.date === date)?.jws ?? "") });

describe("verifySource, for an untouched week", () => {
  it("returns the number of entries and the digest to keep, and reports its progress", async () => {
    const week = await aSealedWeek();
    for (const date of week.dates) keep(week, date);
    const said: string[] = [];
    const onProgress = (date: string, entries: number) => said.push(`${date} ${entries}`);
    const head = { date: "2026-03-07", seal_sha256: sha256(week.seals[6]?.jws ?? "") };
    const found = await verify(week, { onProgress });
    expect(found).toEqual({ organization_id: 7, entries: 70, days: 7, head, warnings: [] });
    expect(said).toEqual(week.dates.map((date, n) => `${date} ${10 * (n + 1)}`));
  });

  it("checks only the files from the given day on", async () => {
    const week = await aSealedWeek();
    week.files.delete("2026-03-01");
    expect(await verify(week, { from: "2026-03-06" })).toMatchObject({ entries: 20, days: 2 });
  });

  it("accepts a rotated key while the former one is published", async () => {
    const week = await aSealedWeek();
    const next = aKey();
    week.keys = [next, week.key];
    await week.sealAgain("2026-03-05", { by: next });
    expect(await verify(week)).toMatchObject({ entries: 70 });
    week.keys = [next];
    await expect(verify(week)).rejects.toThrow(
      "2026-03-01: The seal is signed with a key that is not published",
    );
  });

  it("refuses an invalid date to start from, and warns if no sealed day is left to check", async () => {
    const week = await aSealedWeek();
    keep(week, "2026-03-07");
    const invalid = new TypeError("from: must be a date such as 2026-01-31");
    for (const from of ["2026-3-1", "2026-03-07T00:00:00Z", "2026-02-30", "x"])
      await expect(verify(week, { from })).rejects.toThrow(invalid);
    const warnings = ["No day from 2027-01-31 on is sealed: no file was read."];
    expect(await verify(week, { from: "2027-01-31" })).toMatchObject({ entries: 0, warnings });
  });

  it("does not expect entries older than 400 days in the list", async () => {
    const week = await aSealedWeek();
    week.rows = [];
    expect(await verify(week, { now: Date.parse("2027-05-01T00:00:00Z") })).toMatchObject({ entries: 70 });
    await expect(verify(week)).rejects.toThrow("2026-03-01: The service shows other entries");
  });

  it("warns if the newest seal is older than 26 hours", async () => {
    const week = await aSealedWeek();
    keep(week, "2026-03-07");
    const now = Date.parse("2026-03-09T02:00:00Z");
    const isOld = expect.stringMatching(/^The newest seal is for 2026-03-07/);
    expect(await verify(week, { now })).toMatchObject({ warnings: [] });
    expect(await verify(week, { now: now + 1 })).toMatchObject({ warnings: [isOld] });
  });

  it("warns if no day is sealed, or names the day whose digest a receiver kept", async () => {
    const week = await aSealedWeek();
    keep(week, DAY);
    week.seals = [];
    await expect(verify(week)).rejects.toThrow(`${DAY}: This day has no seal`);
    week.heads.length = 0;
    expect(await verify(week)).toMatchObject({ entries: 0, head: null, warnings: ["No day is sealed yet."] });
  });
});

const withChange = (week: SealedWeek) =>
  entriesOf(week).map((entry, n) => (n === 3 ? { ...entry, event: "update" } : entry));

type Tampering = [how: (week: SealedWeek) => unknown, fault: string | RegExp, day?: string];

const TAMPERING: Record<string, Tampering> = {
  "a row is changed": [
    (week) => Object.assign(rowOf(week, 3), { event: "update" }),
    /^2026-03-04: The service shows other entries than the sealed ones: the entry \d+ was changed: event is update, but read was sealed\.$/,
  ],
  "a row is removed": [
    (week) => week.rows.splice(week.rows.indexOf(rowOf(week, 3)), 1),
    /the entry \d+ is gone\.$/,
  ],
  "a row is added within a day": [
    (week) => {
      const row = rowOf(week, 2);
      week.rows.splice(week.rows.indexOf(row), 0, { ...row, id: row.id - 1 });
    },
    /the entry \d+ was added\.$/,
  ],
  "a file is removed": [(week) => week.files.delete(DAY), "The file of the day is missing."],
  "a file is not gzip": [(week) => week.files.set(DAY, Buffer.from("nothing")), "it is not gzip"],
  "a file is cut off": [
    (week) => week.files.set(DAY, (week.files.get(DAY) as Buffer).subarray(0, 100)),
    "The file is not the one that was sealed",
  ],
  "a file is that of another day": [
    (week) => week.files.set(DAY, week.files.get("2026-03-05") as Buffer),
    "The file is not the one that was sealed: its first_id",
  ],
  "an entry of a file is changed": [
    (week) => week.store(DAY, withChange(week)),
    "its lines have another SHA-256",
  ],
  "an entry of a file is removed": [
    (week) => week.store(DAY, entriesOf(week).toSpliced(3, 1)),
    "its count is 9, but the seal says 10",
  ],
  "a file continues after its last entry": [
    (week) =>
      week.store(DAY, [...entriesOf(week), ...entriesOf(week).map((e) => ({ ...e, id: e.id + 900 }))]),
    "The file is not the one that was sealed: it continues after the last entry.",
  ],
  "a file has an endless line": [
    (week) => week.files.set(DAY, gzipSync(Buffer.alloc(50_000_000))),
    "A line has more than 65536 characters",
    "",
  ],
  "entries of a file are in another order": [
    (week) => week.store(DAY, entriesOf(week).toReversed()),
    "line 2 is out of order",
  ],
  "a file and its row have the same change": [
    (week) => {
      rowOf(week, 3).event = "update";
      week.store(DAY, withChange(week));
    },
    "its lines have another SHA-256",
  ],
  "a seal differs from its signed claims": [
    (week) => Object.assign(week.seals[3] ?? {}, { count: 11 }),
    "The seal says count 11, but 10 was signed.",
  ],
  "a seal in the list lacks its date, and the list lacks the day": [
    (week) => {
      const { date: _, ...dateless } = week.seals[3] as { date: string };
      week.seals[3] = dateless as never;
      week.rows = week.rows.filter((row) => !entriesOf(week).some(({ id }) => id === row.id));
    },
    "The seal says date undefined, but 2026-03-04 was signed.",
    "undefined: ",
  ],
  "a seal has text appended to its signature": [
    (week) => Object.assign(week.seals[6] ?? {}, { jws: `${week.seals[6]?.jws}.evil` }),
    "The signature of the seal is wrong.",
    "2026-03-07",
  ],
  "a listed entry is formatted differently": [
    (week) => {
      const { list } = week.source;
      week.source.list = async function* (after) {
        for await (const line of list(after)) yield line.replace(",", ", ");
      };
    },
    "it is written in another way",
    "2026-03-01",
  ],
  "a listed line is not an entry": [
    (week) => {
      week.source.list = async function* () {
        yield "null";
      };
    },
    "a listed line is not an entry.",
    "2026-03-01",
  ],
  "a seal is null": [
    (week) => week.seals.splice(3, 1, null as never),
    "The signature of the seal is wrong.",
    "undefined: ",
  ],
  "a seal is signed again with another key under the right key's id": [
    async (week) => {
      const [header] = (week.seals[3]?.jws ?? "").split(".");
      const other = await week.seal(DAY, entriesOf(week), { by: aKey() });
      week.seals[3] = { ...other, jws: other.jws.replace(/^[^.]+/, header ?? "") };
    },
    "The signature of the seal is wrong.",
  ],
  "a seal, its file and its rows are replaced and signed with the right key": [
    async (week) => {
      const changed = withChange(week);
      rowOf(week, 3).event = "update";
      week.store(DAY, changed);
      week.seals[3] = await week.seal(DAY, changed);
    },
    "The seal does not follow the seal of 2026-03-04",
    "2026-03-05",
  ],
  "a seal belongs to another organization": [
    async (week) => week.seals.splice(3, 1, await week.seal(DAY, entriesOf(week), { organization_id: 8 })),
    "The seal belongs to another organization.",
  ],
  "a seal is removed": [(week) => week.seals.splice(2, 1), "The seal does not follow the seal of 2026-03-02"],
  "the first seals are removed": [
    (week) => week.seals.splice(0, 3),
    "The first seal follows another one, which is missing.",
  ],
  "the end of the chain is cut off, and a receiver kept its digest": [
    (week) => {
      keep(week, DAY);
      week.seals.splice(3);
    },
    "This day has no seal, but a receiver kept its digest: the end of the chain is cut off",
  ],
  "a day was sealed twice, and a receiver kept the digests of both seals": [
    (week) => {
      week.heads.push({ date: DAY, seal_sha256: "0".repeat(64) });
      keep(week, DAY);
    },
    "The seal is not the one whose digest a receiver kept",
  ],
  "a day and all after it are sealed again, as after a restore, and a receiver kept a digest": [
    async (week) => {
      keep(week, DAY);
      const others = entriesOf(week).slice(0, 5);
      week.days.set(DAY, others);
      week.rows = [...week.days.values()].flat();
      week.store(DAY, others);
      await week.sealAgain(DAY);
    },
    "The seal is not the one whose digest a receiver kept",
  ],
};

/** Seals a week with another time in entry `n` of DAY. The files, the rows and the seals agree. */
async function sealedWithTime(n: number, at: string): Promise<SealedWeek> {
  const week = await aSealedWeek();
  const changed = entriesOf(week).map((entry, i) => (i === n ? { ...entry, at } : entry));
  Object.assign(rowOf(week, n), { at });
  week.days.set(DAY, changed);
  week.store(DAY, changed);
  await week.sealAgain(DAY);
  return week;
}

describe("verifySource, comparing entries with the date of their seal,", () => {
  it.each([
    ["the last moment of the seal's day", 3, "2026-03-04T23:59:59.999Z"],
    ["a late entry of the day before", 3, "2026-03-03T00:00:00.000Z"],
    ["a late first entry of the day before", 0, "2026-03-03T23:59:59.999Z"],
  ])("accepts %s", async (_, n, at) => {
    expect(await verify(await sealedWithTime(n, at))).toMatchObject({ entries: 70 });
  });

  it.each([
    ["an entry of a later day", 3, "2026-03-05T00:00:00.000Z", /: the entry \d+ is of 2026-03-05\.$/],
    ["an entry from two days before", 3, "2026-03-02T23:59:59.999Z", /: the entry \d+ is of 2026-03-02\.$/],
    ["an entry without a valid time", 3, "yesterday", /: the entry \d+ has no time\.$/],
  ])("refuses %s", async (_, n, at, fault) => {
    const found = verify(await sealedWithTime(n, at));
    await expect(found).rejects.toThrow(/^2026-03-04: The date of the seal does not match its entries/);
    await expect(found).rejects.toThrow(fault);
  });

  it("refuses a first entry of an earlier day that has no seal", async () => {
    const week = await aSealedWeek();
    // The day before has no seal, so its entry would have been sealed for its own day.
    const changed = entriesOf(week).map((entry, n) =>
      n === 0 ? { ...entry, at: "2026-03-03T10:00:00.000Z" } : entry,
    );
    week.days.delete("2026-03-03");
    week.days.set(DAY, changed);
    week.rows = [...week.days.values()].flat();
    week.store(DAY, changed);
    week.dates.splice(2, 1);
    await week.sealAgain("2026-03-03");
    await expect(verify(week)).rejects.toThrow(
      /its first entry \d+ is of 2026-03-03, which is not the day of the seal\.$/,
    );
  });

  it("refuses two seals of one day", async () => {
    const week = await aSealedWeek();
    const [seal] = week.seals.splice(4, 3);
    const before = week.seals[3];
    const { jws: _, ...claims } = { ...(seal as (typeof week.seals)[0]), date: DAY };
    claims.previous = sha256(before?.jws ?? "");
    week.seals.push({ ...claims, jws: await signSeal(week.key, { organization_id: 7, ...claims }) });
    await expect(verify(week)).rejects.toThrow(
      `${DAY}: The seal repeats the date or entries of the seal of ${DAY}.`,
    );
  });

  it("refuses a seal with more entries than ids", async () => {
    const week = await aSealedWeek();
    const { jws: _, ...claims } = { ...(week.seals[6] as (typeof week.seals)[0]), count: 1000 };
    week.seals[6] = { ...claims, jws: await signSeal(week.key, { organization_id: 7, ...claims }) };
    await expect(verify(week)).rejects.toThrow("2026-03-07: The seal cannot have 1000 entries");
  });
});

it("verifySource finds any single change of an entry, a file, a seal or their order", async () => {
  const tampering = fc.record({
    where: fc.constantFrom("rows", "seals", "file"),
    how: fc.constantFrom("change", "remove", "repeat", "swap"),
    n: fc.nat(),
    field: fc.nat(),
  });
  const anotherValue = (value: unknown) => (typeof value === "number" ? value + 1 : `${value}0`);
  await fc.assert(
    fc.asyncProperty(tampering, async ({ where, how, n, field }) => {
      const week = await aSealedWeek({ each: 4 });
      for (const date of week.dates) keep(week, date);
      const date = week.dates[field % week.dates.length] as string;
      const entries = structuredClone(week.days.get(date) ?? []);
      const list: Record<string, unknown>[] = where === "file" ? entries : week[where];
      // The last day has no seal yet.
      const length = where === "rows" ? 4 * week.dates.length : list.length;
      const at = n % length;
      const each = list[at] as (typeof list)[0];
      if (how === "change") {
        const name = Object.keys(each)[field % Object.keys(each).length] as string;
        list[at] = { ...each, [name]: anotherValue(each[name]) };
      } else if (how === "remove") list.splice(at, 1);
      else if (how === "repeat") list.splice(at, 0, { ...each });
      else {
        const other = (at + 1) % length;
        [list[at], list[other]] = [list[other] as typeof each, each];
      }
      if (where === "file") week.store(date, entries);
      await expect(verify(week)).rejects.toThrow(AccessLogFault);
    }),
    { numRuns: 300 },
  );
});

describe("verifySource, naming the day and the fault,", () => {
  it.each(Object.entries(TAMPERING))("fails if %s", async (_, [tamper, fault, day = DAY]) => {
    const week = await aSealedWeek();
    await tamper(week);
    const found = expect(verify(week)).rejects;
    await found.toThrow(new RegExp(`^${day}`));
    await found.toThrow(fault);
  });

  it("cannot see a cut-off end of the chain without a digest kept by a receiver", async () => {
    const week = await aSealedWeek();
    week.seals.splice(3);
    expect(await verify(week)).toMatchObject({
      entries: 30,
      warnings: [
        expect.stringMatching(/^No digest kept by a receiver was given/),
        expect.stringMatching("2026-03-03"),
      ],
    });
  });
});

it("verifySource accepts the seals in the reference with the key in the guide, so that readers can try a program", async () => {
  const guide = readFileSync("src/reference/guides/external/18_checking_the_log.md", "utf8");
  const { keys } = JSON.parse(/```json\n([^`]*"keys"[^`]*)```/.exec(guide)?.[1] ?? "");
  const week = await aSealedWeek();
  Object.assign(week, { seals: [SEAL_BEFORE, SEAL], files: new Map() });
  week.source.keys = async () => keys;
  // The chain is valid. Only the file is missing.
  await expect(verify(week)).rejects.toThrow(`${SEAL_BEFORE.date}: The file of the day is missing.`);
  expect(SEAL.previous).toBe(sha256(SEAL_BEFORE.jws));
  expect(SEAL_SHA256).toBe(sha256(SEAL.jws));
});
