import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { affordable, cronShare, evenPart, spend } from "../../src/context.ts";
import { shardsOfRun } from "../../src/database/shards.ts";
import { CRON_INTERVAL, SHARDS_OF_RUN, SUBREQUESTS, SUBREQUESTS_OF_SHARD } from "../../src/limits.ts";

const SIZES = [1, 2, 3, 7, 20, 21, 40, 41, 99, 100, 1000, 5000];

const numbersOf = (size: number) => Array.from({ length: size }, (_, shard) => shard);

describe("Of many databases", () => {
  const at = Date.UTC(2027, 0, 31, 9, 35);

  it.each(SIZES)("%i, each has its turn once in as many runs as they need", (size) => {
    const numbers = numbersOf(size);
    const turns = Math.ceil(size / SHARDS_OF_RUN);
    const runs = Array.from({ length: turns }, (_, run) => shardsOfRun(numbers, at + run * CRON_INTERVAL));
    expect(runs.flat().sort((a, b) => a - b)).toEqual(numbers);
    const lengths = runs.map(({ length }) => length);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(SHARDS_OF_RUN);
    expect(Math.max(...lengths) - Math.min(...lengths)).toBeLessThanOrEqual(1);
    expect(shardsOfRun(numbers, at + turns * CRON_INTERVAL)).toEqual(runs[0]);
  });

  it("a run has the same, a little before or after its time", () => {
    for (const late of [-1000, -1, 1, 60_000])
      expect(shardsOfRun(numbersOf(100), at + late)).toEqual(shardsOfRun(numbersOf(100), at));
  });

  it("also numbers of databases that are not without a gap are served", () => {
    expect(shardsOfRun([0, 3, 7], at)).toEqual([0, 3, 7]);
  });

  it("the turns are as long as the pause between two runs of the cron", () => {
    const [minutes] =
      /crons = \["\*\/(\d+) \* \* \* \*"\]/.exec(readFileSync("wrangler.toml", "utf8"))?.slice(1) ?? [];
    expect(Number(minutes) * 60_000).toBe(CRON_INTERVAL);
  });
});

describe("The share of a database in a run", () => {
  it("is all of it where there is no other", () => {
    for (const portion of [1, 50, 500]) expect(affordable({}, portion, 4)).toBe(portion);
    expect(evenPart({}, 6)).toBe(6);
  });

  it.each(Array.from({ length: SHARDS_OF_RUN }, (_, n) => n + 1))(
    "of %i leaves them all what they take anyway, and at least something to work off",
    (together) => {
      const share = cronShare(together);
      expect(together * (SUBREQUESTS_OF_SHARD + share.subrequests)).toBeLessThanOrEqual(SUBREQUESTS);
      expect(share.subrequests).toBeGreaterThanOrEqual(20);
      expect(evenPart({ share }, 6)).toBe(Math.max(1, Math.floor(6 / together)));
    },
  );

  it("is a portion, or what half of the subrequests that are left are enough for", () => {
    const share = cronShare(20);
    expect(affordable({ share }, 100, 1)).toBe(10);
    expect(affordable({ share }, 9, 1)).toBe(9);
    expect(affordable({ share }, 100, 4)).toBe(2);
    expect(affordable({ share }, 500, 0.2)).toBe(50);
    spend({ share }, 12);
    expect(affordable({ share }, 100, 4)).toBe(1);
    spend({ share }, 12);
    expect(affordable({ share }, 100, 4)).toBe(1);
  });
});
