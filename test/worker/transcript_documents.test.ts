import { env } from "cloudflare:workers";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { CRON_PORTION, TRANSCRIPTS_MOVED } from "../../src/limits.ts";
import { spokenLines } from "../bench/speech.ts";
import { aCall, aRecipient } from "./support/calls.ts";
import { countingRoundTrips } from "./support/database.ts";
import { platform } from "./support/door.ts";
import { observedDatabase } from "./support/observed_database.ts";
import { anOrganization, given } from "./support/organization.ts";
import { workerWith } from "./support/queue.ts";
import { countingRows } from "./support/rows.ts";
import { strictDatabase, throughStrictDatabase } from "./support/strict_database.ts";
import { aCallToTranscribe, ids, says, storeAsRows, storedRows, texts } from "./support/transcripts.ts";
import { changingNothing, leavingNoRows } from "./support/unchanged.ts";

const anHourOf = (speakers: readonly { key: string }[]) =>
  spokenLines(
    speakers.map(({ key }) => key),
    600,
  );

describe("The transcript of an hour", () => {
  it("is reported with at most 30 rows written, and read with at most 10 rows read", async () => {
    const clinic = await anOrganization();
    const participants = [1, 2, 3].map(() => aRecipient());
    const call = await aCall(clinic, { participants });
    // Where others come after it in the indexes, SQLite reads one row more to find the end of its own.
    const next = await aCall(clinic);
    await given(next.reportTranscript({ is_final: true, lines: [] }));
    const counting = countingRows();
    const client = clinic.client.through(counting.fetcher);
    await given(client.get("/roles"));
    const url = `/calls/${call.key}/transcript`;
    const report = (transcript: object) =>
      counting.during(() => given(platform.through(counting.fetcher).put(url, { transcript })));
    const lines = anHourOf(participants);
    expect((await report({ is_final: false, lines })).rows_written).toBeLessThanOrEqual(30);
    expect((await report({ lines: lines.slice(1) })).rows_written).toBeLessThanOrEqual(30);
    expect((await report({ lines: lines.slice(1) })).rows_written).toBe(0);

    const { result, rows_read } = await counting.during(() => given(client.get(`${call.path}/transcript`)));
    expect(result.transcript_lines).toHaveLength(599);
    expect(rows_read).toBeLessThanOrEqual(10);
  });

  it("is one row, with fewer bytes than its text has", async () => {
    const { call } = await aCallToTranscribe();
    const lines = anHourOf(call.participants);
    await given(call.reportTranscript({ is_final: true, lines }));
    const stored = await env.DB.prepare(
      "select count(*) as parts, sum(length(content)) as bytes from transcript_parts where call_id = ?",
    )
      .bind(call.id)
      .first<{ parts: number; bytes: number }>();
    const text = lines.map((line) => line.text).join("");
    expect(text.length).toBeGreaterThan(50_000);
    expect(stored?.parts).toBe(1);
    expect(stored?.bytes).toBeLessThan(28_000);
    expect(await storedRows("transcript_lines", call)).toBe(0);
  });

  it("costs one round trip when its report is repeated", async () => {
    const { call } = await aCallToTranscribe();
    const transcript = { is_final: true, lines: anHourOf(call.participants) };
    const reported = await given(call.reportTranscript(transcript));
    const counting = countingRoundTrips();
    let repeated: unknown;
    const trips = await counting.during(async () => {
      const door = platform.through(counting.fetcher);
      repeated = await given(door.put(`/calls/${call.key}/transcript`, { transcript }));
    });
    expect(repeated).toEqual(reported);
    expect(trips).toBe(1);
  });
});

describe("The longest reports that there may be", () => {
  const BODY_LIMIT = 4 * 1024 * 1024;

  /** Random characters, each with as many bytes in UTF-8. */
  const noise: Record<string, (length: number) => string> = {
    "one byte": (length) => randomText(length, (value) => 0x23 + (value % 57)),
    "two bytes": (length) => randomText(length, (value) => 0xa1 + (value % 1800)),
    "three bytes": (length) => randomText(length, (value) => 0x3400 + (value % 28_000)),
    "four bytes": (length) => randomText(length, (value) => 0x1_0000 + value),
  };

  function randomText(length: number, toCodePoint: (value: number) => number): string {
    let text = "";
    // No more random bytes come at once.
    const values = new Uint16Array(32_768);
    for (let n = 0; n < length; n++) {
      if (n % values.length === 0) crypto.getRandomValues(values);
      text += String.fromCodePoint(toCodePoint(values[n % values.length] as number));
    }
    return text;
  }

  const sizeOf = (body: object) => new TextEncoder().encode(JSON.stringify(body)).length;

  it.each([
    ["one byte", 10_000, 415],
    ["two bytes", 10_000, 208],
    ["three bytes", 10_000, 138],
    ["four bytes", 10_000, 104],
    ["one byte", 13, 50_000],
  ])(
    "of random characters of %s are read back exactly, with lines of %i",
    { timeout: 60_000 },
    async (bytes, length, count) => {
      const clinic = await anOrganization();
      leavingNoRows(clinic.id, "transcripts");
      const call = await aCall(clinic, { participants: [aRecipient({ key: "p" })] });
      const all = noise[bytes]?.(length * count) ?? "";
      const perLine = all.length / count;
      const lines = Array.from({ length: count }, (_, n) =>
        says({ key: "p" }, n, n, all.slice(n * perLine, (n + 1) * perLine)),
      );
      const transcript = { is_final: true, lines };
      expect(sizeOf({ transcript })).toBeLessThanOrEqual(BODY_LIMIT);
      expect(sizeOf({ transcript })).toBeGreaterThan(0.85 * BODY_LIMIT);
      const url = `/calls/${call.key}/transcript`;
      await given(platform.through(throughStrictDatabase).put(url, { transcript }));
      const read = await given(clinic.client.through(throughStrictDatabase).get(`${call.path}/transcript`));
      expect(texts(read).join("") === all).toBe(true);
      expect(new Set(ids(read)).size).toBe(count);
      expect(await storedRows("transcript_parts", call)).toBeGreaterThan(1);
    },
  );
});

describe("The id of a line", () => {
  it("stays while the line does, whatever happens to other lines", async () => {
    const { call, paula, rita, read } = await aCallToTranscribe();
    const [one, two, three] = [says(paula, 0, 1, "one"), says(rita, 1, 2, "two"), says(paula, 5, 6, "three")];
    const report = async (...lines: object[]) => {
      const reported = await given(call.reportTranscript({ is_final: false, lines }));
      expect((await read()).body).toEqual(reported);
      return ids(reported);
    };
    const [first = 0, second = 0] = await report(one, two);
    expect(second).toBe(first + 1);

    // A live transcript grows, at the end and in between.
    const [, , third = 0] = await report(one, two, three);
    expect(third).toBeGreaterThan(second);
    const between = says(rita, 3, 4, "between");
    const [, , fourth = 0] = await report(one, two, between, three);
    expect(fourth).toBeGreaterThan(third);
    expect(await report(one, two, between, three)).toEqual([first, second, fourth, third]);

    // A line that changes is another line, and one that comes back too.
    const [, changed = 0] = await report(one, { ...two, text: "Two" }, between, three);
    expect(changed).toBeGreaterThan(fourth);
    expect(await report(one, three)).toEqual([first, third]);
    const [, back = 0] = await report(one, two, three);
    expect(back).toBeGreaterThan(changed);
    expect(await report()).toEqual([]);
    expect(Math.min(...(await report(one, two, three)))).toBeGreaterThan(back);
  });

  it("is of no other line in the service, also where reports come at once", async () => {
    const clinic = await anOrganization();
    const calls = await Promise.all([1, 2, 3, 4, 5].map(() => aCall(clinic)));
    const grow = (length: number) =>
      Promise.all(
        calls.map((call) => {
          const lines = anHourOf(call.participants).slice(0, length);
          return given(call.reportTranscript({ is_final: false, lines }));
        }),
      );
    const before = await grow(20);
    const after = await grow(50);
    for (const [n, transcript] of after.entries())
      expect(ids(transcript).slice(0, 20)).toEqual(ids(before[n]));
    expect(new Set(after.flatMap(ids)).size).toBe(5 * 50);
  });

  it("stays when a report that meets another one is decided again", async () => {
    const { call, paula, read } = await aCallToTranscribe();
    const [one, two, three] = [0, 1, 2].map((n) => says(paula, n, n + 1, `line ${n}`));
    await given(call.reportTranscript({ is_final: false, lines: [one] }));
    let met = false;
    let between: number[] = [];
    const DB = observedDatabase({
      async query(run) {
        const rows = await run();
        if (!met) {
          met = true;
          between = ids(await given(call.reportTranscript({ lines: [one, two] })));
        }
        return rows;
      },
    });
    const door = platform.through(workerWith({ DB }).fetcher);
    const lines = [one, two, three];
    const last = await given(door.put(`/calls/${call.key}/transcript`, { transcript: { lines } }));
    expect(ids(last).slice(0, 2)).toEqual(between);
    expect((await read()).body).toEqual(last);
  });
});

describe("A line whose speaker's record is gone", () => {
  it("stays, without a name", async () => {
    const { call, paula, rita, read } = await aCallToTranscribe();
    const lines = [says(paula, 0, 1, "one"), says(rita, 1, 2, "two")];
    await given(call.reportTranscript({ is_final: true, lines }));
    await env.DB.prepare("delete from participants where key = ?").bind(rita.key).run();
    expect((await read()).body.transcript_lines).toMatchObject([
      { text: "one", display_name: "Paula Provider" },
      { text: "two", display_name: "" },
    ]);
  });
});

describe("A transcript whose record is deleted", () => {
  it.each(["parts", "rows"])("leaves none of its lines behind, in %s", async (form) => {
    const { call } = await aCallToTranscribe();
    const lines = anHourOf(call.participants);
    const reported = await given(call.reportTranscript({ is_final: true, lines }));
    if (form === "rows") await storeAsRows(call, reported, lines);
    await env.DB.prepare("delete from transcripts where call_id = ?").bind(call.id).run();
    expect(await storedRows("transcript_parts", call)).toBe(0);
    const left = env.DB.prepare("select count(*) as n from transcript_lines where transcript_id = ?");
    expect(await left.bind(reported.id).first("n")).toBe(0);
  });
});

describe("A transcript that an earlier version stored line by line", () => {
  /** A transcript that is not final, and the same as the earlier version stored it. */
  async function anOldTranscript(
    linesOf = (people: readonly { key: string }[]) => anHourOf(people).slice(0, 30),
  ) {
    const scene = await aCallToTranscribe();
    leavingNoRows(scene.clinic.id, "transcripts");
    const lines = linesOf(scene.call.participants);
    const transcript = { summary: "A talk.", is_final: false, lines };
    const reported = await given(scene.call.reportTranscript(transcript));
    await storeAsRows(scene.call, reported, lines);
    return { ...scene, transcript, lines, reported };
  }

  const runCron = (bindings: object = {}) => workerWith(bindings).runCron();

  it("is read as before, in the order of its lines, in one round trip", async () => {
    const { clinic, call, reported } = await anOldTranscript();
    const counting = countingRoundTrips();
    const client = clinic.client.through(counting.fetcher);
    await given(client.get("/roles"));
    let read: unknown;
    const trips = await counting.during(async () => {
      read = await given(client.get(`${call.path}/transcript`));
    });
    expect(read).toEqual(reported);
    expect(trips).toBe(1);
  });

  it("is not read by anybody else", async () => {
    const { clinic, call, reported } = await anOldTranscript();
    const other = await aCall(await anOrganization());
    expect((await clinic.client.get(`${other.path}/transcript`)).status).toBe(404);
    const colleague = await clinic.addProvider();
    const path = `/organization_users/${colleague.id}/calls/${call.id}/transcript`;
    expect((await clinic.client.get(path)).status).toBe(404);
    expect((await clinic.client.get(`${call.path}/transcript`)).body).toEqual(reported);
  });

  it("is not changed by a report that repeats it, and keeps its lines when only the summary changes", async () => {
    const { call, transcript, reported, read } = await anOldTranscript();
    const repeated = await changingNothing(() => given(call.reportTranscript(transcript)));
    expect(repeated).toEqual(reported);
    const changed = await given(call.reportTranscript({ summary: "Another." }));
    expect(changed).toEqual({ ...reported, summary: "Another." });
    expect((await read()).body).toEqual(changed);
  });

  it("becomes one document with the next report of other lines, and the same lines keep their ids", async () => {
    const { call, paula, lines, reported, read } = await anOldTranscript();
    const more = says(paula, 9000, 9001, "And one more thing.");
    const grown = await given(call.reportTranscript({ lines: [...lines, more] }));
    expect(ids(grown).slice(0, -1)).toEqual(ids(reported));
    expect(ids(grown).at(-1)).toBeGreaterThan(Math.max(...ids(reported)));
    expect((await read()).body).toEqual(grown);
    expect([await storedRows("transcript_lines", call), await storedRows("transcript_parts", call)]).toEqual([
      0, 1,
    ]);
  });

  it("becomes one document by the cron, and is the same", async () => {
    const { call, transcript, reported, read } = await anOldTranscript();
    await runCron();
    expect(await storedRows("transcript_lines", call)).toBe(0);
    expect(await storedRows("transcript_parts", call)).toBe(1);
    expect((await read()).body).toEqual(reported);
    expect(await changingNothing(() => given(call.reportTranscript(transcript)))).toEqual(reported);
    await changingNothing(() => runCron());
  });

  it("becomes a document of several rows where it is long", { timeout: 60_000 }, async () => {
    const text = (n: number) => Array.from({ length: 2000 }, (_, k) => ((n * 7919 + k * k * 31) % 9973) + k);
    const { call, reported, clinic } = await anOldTranscript((people) =>
      Array.from({ length: 300 }, (_, n) =>
        says(people[n % 2] as { key: string }, n, n + 0.5, text(n).join("").slice(0, 10_000)),
      ),
    );
    expect(JSON.stringify(reported).length).toBeGreaterThan(2_000_000);
    const read = async () =>
      given(clinic.client.through(throughStrictDatabase).get(`${call.path}/transcript`));
    expect(JSON.stringify(await read()) === JSON.stringify(reported)).toBe(true);
    await runCron({ DB: strictDatabase });
    expect(await storedRows("transcript_lines", call)).toBe(0);
    expect(await storedRows("transcript_parts", call)).toBeGreaterThan(1);
    expect(JSON.stringify(await read()) === JSON.stringify(reported)).toBe(true);
  });

  it("loses nothing where a report comes while the cron moves its lines", async () => {
    const { call, paula, lines, read } = await anOldTranscript();
    const last = says(paula, 9000, 9001, "And one more thing.");
    let reported: unknown;
    const DB = observedDatabase({
      async query(run) {
        const rows = await run();
        const isRead = JSON.stringify(rows).includes(lines[0]?.text ?? "");
        if (isRead && !reported) reported = await given(call.reportTranscript({ lines: [...lines, last] }));
        return rows;
      },
    });
    await runCron({ DB });
    expect(reported).toBeDefined();
    expect((await read()).body).toEqual(reported);
  });

  it("is moved once where two crons meet", async () => {
    const { read, reported } = await anOldTranscript();
    const logged = vi.spyOn(console, "error");
    onTestFinished(() => logged.mockRestore());
    await Promise.all([runCron(), runCron(), runCron()]);
    expect(logged).not.toHaveBeenCalled();
    expect((await read()).body).toEqual(reported);
  });

  it("can still be reported to the earlier version, while both run", async () => {
    const { call, paula, read } = await anOldTranscript();
    await runCron();
    // Its writes, in its order.
    const from = "from transcripts where call_id = ?1";
    await env.DB.batch([
      env.DB.prepare("update transcripts set lines_digest = 'other', updated_at = 5 where call_id = ?1").bind(
        call.id,
      ),
      env.DB.prepare(`delete from transcript_lines where transcript_id = (select id ${from})`).bind(call.id),
      env.DB.prepare(
        `insert into transcript_lines (organization_id, transcript_id, participant_id, text, start_time, end_time)
         select organization_id, id, (select id from participants where key = ?2), 'one', 0, 1 ${from}`,
      ).bind(call.id, paula.key),
    ]);
    const { body } = await read();
    expect(texts(body)).toEqual(["one"]);
    const grown = await given(
      call.reportTranscript({ lines: [says(paula, 0, 1, "one"), says(paula, 1, 2, "two")] }),
    );
    expect(ids(grown)[0]).toBe(ids(body)[0]);
    expect(ids(grown)[1]).toBeGreaterThan(ids(body)[0] ?? 0);
  });
});

describe(`More than ${TRANSCRIPTS_MOVED} transcripts that an earlier version stored`, () => {
  const MORE = TRANSCRIPTS_MOVED + 20;
  const LINES = 30;

  /** Calls with transcripts of one person. */
  async function fill(clinic: { id: number }, owner: { id: number }, room: { id: number }) {
    const counter = (size: number) =>
      `with recursive counter (n) as (select 1 union all select n + 1 from counter where n < ${size})`;
    const statements = [
      `${counter(MORE)} insert into calls (organization_id, key, organization_user_id, waiting_room_id, started_at,
         ended_at, failed, created_at, updated_at)
       select ?1, 'old-' || ?1 || '-' || n, ?2, ?3, 1, 2, 0, 1, 1 from counter`,
      `insert into participants (organization_id, key, waiting_room_id, call_id, display_name, role, created_at, updated_at)
       select ?1, key, ?3, id, 'Rita', 'recipient', 1, 1 from calls where organization_id = ?1 and key glob 'old-*'
         and ?2 = ?2`,
      `insert into transcripts (organization_id, call_id, is_final, lines_digest, created_at, updated_at)
       select ?1, id, 1, 'old', 1, 1 from calls where organization_id = ?1 and key glob 'old-*' and ?2 = ?2 and ?3 = ?3`,
      `${counter(LINES)} insert into transcript_lines (organization_id, transcript_id, participant_id, text, start_time, end_time)
       select ?1, transcripts.id, participants.id, 'Line ' || n, n, n from transcripts
         join participants on participants.call_id = transcripts.call_id, counter
       where transcripts.organization_id = ?1 and ?2 = ?2 and ?3 = ?3`,
    ];
    for (const statement of statements)
      await env.DB.prepare(statement).bind(clinic.id, owner.id, room.id).run();
  }

  it("are moved in portions, each in a short transaction", { timeout: 60_000 }, async () => {
    const clinic = await anOrganization();
    leavingNoRows(clinic.id, "transcripts");
    const [owner, room] = [await clinic.addProvider(), await clinic.addRoom()];
    const left = async () =>
      Number(
        await env.DB.prepare("select count(distinct transcript_id) as n from transcript_lines").first("n"),
      );
    const counting = countingRows();
    const idle = await counting.during(() => runCronWith(counting.DB));
    await fill(clinic, owner, room);
    // So old that another chore of the cron would delete them.
    await env.DB.prepare("delete from events where organization_id = ?").bind(clinic.id).run();
    expect(await left()).toBe(MORE);

    const longest = { rows: 0 };
    const DB = observedDatabase(
      {
        async query(run) {
          const result = await run();
          const rows = ([result].flat() as D1Result[]).map(({ meta }) => meta.rows_read + meta.rows_written);
          longest.rows = Math.max(longest.rows, ...rows);
          return result;
        },
      },
      counting.DB,
    );
    const { rows_read, rows_written } = await counting.during(() => runCronWith(DB));
    expect(await left()).toBe(MORE - TRANSCRIPTS_MOVED);
    const lines = LINES * TRANSCRIPTS_MOVED;
    expect(rows_read).toBeLessThan(idle.rows_read + 8 * lines);
    expect(rows_written).toBeLessThan(idle.rows_written + 4 * lines);
    expect(longest.rows).toBeLessThan(CRON_PORTION);
    await runCronWith(DB);
    expect(await left()).toBe(0);

    // Where there is nothing to move, nothing is read to find that out.
    const after = await counting.during(() => runCronWith(counting.DB));
    expect(after.rows_read).toBeLessThanOrEqual(idle.rows_read + 1);
    const path = `/organization_users/${owner.id}/calls`;
    const { calls } = await given(clinic.client.get(path));
    const read = await given(clinic.client.get(`${path}/${calls[0].id}/transcript`));
    expect(texts(read)).toEqual(Array.from({ length: LINES }, (_, n) => `Line ${n + 1}`));
  });

  const runCronWith = (DB: D1Database) => workerWith({ DB }).runCron();
});
