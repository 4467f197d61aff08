import { env } from "cloudflare:workers";
import { compactVerify, createLocalJWKSet } from "jose";
import { describe, expect, it } from "vitest";
import { digest } from "../../../src/bytes/digest.ts";
import { DAY, MINUTE } from "../../../src/units.ts";
import { api } from "../support/api.ts";
import { isUnusual } from "../support/logged.ts";
import { observedDatabase } from "../support/observed_database.ts";
import { anOrganization, given } from "../support/organization.ts";
import {
  AUDIT_SIGNING_KEY,
  addEntries,
  closedAt,
  fileOf,
  idsInFile,
  logOf,
  runCronAt,
  sealDay,
  sealsOf,
  textOf,
  withoutEntries,
} from "../support/seals.ts";
import { travelTo } from "../support/time.ts";
import { throughWorkerWith } from "../support/worker.ts";

const ANOTHER_X = "72nIXZt1A047YZY2TagYbyVDUk-ZagDnredDHlYVv8o";

const anEmptyLog = async () => withoutEntries(await anOrganization());

const jwks = async () =>
  (await api("", {}).through(throughWorkerWith({ AUDIT_SIGNING_KEY })).get("/.well-known/jwks.json")).body;

async function verified(jws: string) {
  const { payload, protectedHeader } = await compactVerify(jws, createLocalJWKSet(await jwks()));
  return { header: protectedHeader, claims: JSON.parse(new TextDecoder().decode(payload)) };
}

describe("The cron that seals the access log", () => {
  it("seals a day one hour after it ends, with a file of its entries and a signed seal that describes the file", async () => {
    travelTo("2026-01-10T09:30:00Z");
    const clinic = await anOrganization();
    await given(
      clinic.client.send("POST", "/waiting_rooms", { waiting_room: { name: "Cardiology", is_active: true } }),
    );
    await clinic.addInvite();
    await runCronAt(closedAt("2026-01-10") - 1);
    expect(await sealsOf(clinic)).toEqual([]);
    await sealDay("2026-01-10");
    const [seal, ...others] = await sealsOf(clinic);
    expect(others).toEqual([]);
    const lines = (await given(clinic.client.get("/access_logs/2026-01-10"))).split("\n");
    expect(lines.pop()).toBe("");
    const entries = lines.map((line: string) => JSON.parse(line));
    expect(entries.map(({ event, resource }: Record<string, string>) => `${event} ${resource}`)).toContain(
      "create invite",
    );
    expect(entries.at(-1)).toMatchObject({ at: "2026-01-10T09:30:00.000Z", api_client_id: clinic.client.id });
    expect(entries.at(-1).request_id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    const said = {
      date: "2026-01-10",
      count: entries.length,
      first_id: entries[0].id,
      last_id: entries.at(-1).id,
      sha256: await digest(`${lines.join("\n")}\n`),
      previous: null,
    };
    expect(seal).toEqual({ ...said, jws: seal.jws });
    const { header, claims } = await verified(seal.jws);
    expect(header).toEqual({ alg: "EdDSA", typ: "access-log-seal", kid: (await jwks()).keys[0].kid });
    expect(claims).toEqual({ organization_id: clinic.id, ...said });
    const { events } = await given(clinic.client.get("/events?type=access_log.sealed"));
    expect(events.map(({ data }: { data: object }) => data)).toEqual([
      { date: "2026-01-10", seal_sha256: await digest(seal.jws) },
    ]);
  });

  it("catches up on missed days, one per run, oldest first, and links each seal to the one before", async () => {
    const clinic = await anEmptyLog();
    const days = [1, 2, 3, 5].map((day) => `2026-02-0${day}`);
    await addEntries(clinic, ...days.map((date) => `${date}T10:00:00Z`));
    const now = closedAt("2026-02-07");
    for (const [run] of days.entries()) {
      await runCronAt(now + run * 5 * MINUTE);
      const seals = await sealsOf(clinic);
      expect(seals.map(({ date }: { date: string }) => date)).toEqual(days.slice(0, run + 1));
      expect(seals[run].previous).toBe(run === 0 ? null : await digest(seals[run - 1].jws));
    }
  });

  it("seals by id: an entry that arrives late, or after one of the next day, is in the next seal", async () => {
    const clinic = await anEmptyLog();
    const [first, next, late] = await addEntries(
      clinic,
      "2026-01-10T10:00:00Z",
      "2026-01-11T00:00:00Z",
      "2026-01-10T23:59:59Z",
    );
    await sealDay("2026-01-10");
    const [latest] = await addEntries(clinic, "2026-01-10T11:00:00Z");
    expect(await idsInFile(clinic, "2026-01-10")).toEqual([first]);
    await sealDay("2026-01-10");
    await sealDay("2026-01-11");
    expect(await idsInFile(clinic, "2026-01-11")).toEqual([next, late, latest]);
    // This also holds if the next day has no other entries.
    const [evenLater] = await addEntries(clinic, "2026-01-11T12:00:00Z");
    await sealDay("2026-01-11");
    expect(await sealsOf(clinic)).toHaveLength(2);
    await sealDay("2026-01-12");
    expect(await idsInFile(clinic, "2026-01-12")).toEqual([evenLater]);
  });

  it("seals a day once if runs overlap", async () => {
    const clinics = await Promise.all(Array.from({ length: 5 }, anEmptyLog));
    for (const clinic of clinics) await addEntries(clinic, "2026-01-10T10:00:00Z", "2026-01-10T11:00:00Z");
    const logged = await logOf(() => Promise.all(Array.from({ length: 4 }, () => sealDay("2026-01-10"))));
    expect(logged.filter(isUnusual)).toEqual([]);
    for (const clinic of clinics) {
      const seals = await sealsOf(clinic);
      expect(seals).toHaveLength(1);
      expect(await digest(await textOf(fileOf(clinic, "2026-01-10")))).toBe(seals[0].sha256);
    }
  });

  it("reuses the file of a run that ended before it wrote the seal", async () => {
    const clinic = await anEmptyLog();
    const ids = await addEntries(clinic, "2026-01-10T10:00:00Z", "2026-01-10T11:00:00Z");
    const DB = observedDatabase({
      prepare(text) {
        if (text.startsWith('insert into "access_log_seals"')) throw new Error("The isolate ended here");
      },
    });
    const logged = await logOf(() => sealDay("2026-01-10", { DB }));
    expect(logged).toContainEqual(expect.objectContaining({ event: "fault", organization_id: clinic.id }));
    expect(await sealsOf(clinic)).toEqual([]);
    const file = await textOf(fileOf(clinic, "2026-01-10"));
    expect((await clinic.client.get("/access_logs/2026-01-10")).status).toBe(404);
    const [late, next] = await addEntries(clinic, "2026-01-10T12:00:00Z", "2026-01-11T12:00:00Z");
    await sealDay("2026-01-10");
    expect(await idsInFile(clinic, "2026-01-10")).toEqual(ids);
    expect(await textOf(fileOf(clinic, "2026-01-10"))).toBe(file);
    await sealDay("2026-01-11");
    expect(await idsInFile(clinic, "2026-01-11")).toEqual([late, next]);
  });

  it("logs a conflicting file, leaves its day unsealed, and seals the other organizations", async () => {
    const others = [await anEmptyLog(), await anEmptyLog()];
    const lost = await anEmptyLog();
    for (const clinic of [...others, lost])
      await addEntries(clinic, "2026-01-10T10:00:00Z", "2026-01-10T11:00:00Z");
    await sealDay("2026-01-10");
    // The situation after a restore: the database has lost an entry of the day, and the seal.
    const [name, held] = [fileOf(lost, "2026-01-12"), await anEmptyLog()];
    for (const clinic of [...others, lost])
      await addEntries(clinic, "2026-01-12T10:00:00Z", "2026-01-12T11:00:00Z");
    const kept = await env.AUDIT_LOGS.get(fileOf(others[0] ?? held, "2026-01-10"));
    await env.AUDIT_LOGS.put(name, await (kept as R2ObjectBody).arrayBuffer());
    for (let run = 0; run < 2; run++) {
      const logged = await logOf(() => sealDay("2026-01-12"));
      expect(logged.filter(isUnusual)).toEqual([
        { event: "access_log_file_in_the_way", organization_id: lost.id, date: "2026-01-12" },
      ]);
    }
    expect(await sealsOf(lost)).toHaveLength(1);
    for (const clinic of others) expect(await sealsOf(clinic)).toHaveLength(2);
    // Once the operator has moved the file, the day is sealed.
    await env.AUDIT_LOGS.delete(name);
    await sealDay("2026-01-12");
    expect(await sealsOf(lost)).toHaveLength(2);
  });

  it("leaves a day unsealed if its file is not gzipped, or has no entries, because a seal is never empty", async () => {
    const clinic = await anEmptyLog();
    const name = fileOf(clinic, "2026-01-10");
    await addEntries(clinic, "2026-01-10T10:00:00Z");
    const empty = new Blob([]).stream().pipeThrough(new CompressionStream("gzip"));
    for (const [event, file] of [
      ["fault", "no gzip"],
      ["access_log_file_in_the_way", await new Response(empty).arrayBuffer()],
    ] as const) {
      await env.AUDIT_LOGS.put(name, file);
      const logged = await logOf(() => sealDay("2026-01-10"));
      expect(logged).toContainEqual(expect.objectContaining({ event, organization_id: clinic.id }));
      expect(await sealsOf(clinic)).toEqual([]);
    }
    await env.AUDIT_LOGS.delete(name);
  });

  it("seals nothing while the database is quiet", async () => {
    const clinic = await anEmptyLog();
    await addEntries(clinic, "2026-01-10T10:00:00Z");
    await env.DB.prepare("insert into database_settings (name, value) values ('quiet', 1)").run();
    await sealDay("2026-01-10");
    await env.DB.prepare("delete from database_settings where name = 'quiet'").run();
    expect(await sealsOf(clinic)).toEqual([]);
    expect(await env.AUDIT_LOGS.head(fileOf(clinic, "2026-01-10"))).toBeNull();
    await sealDay("2026-01-10");
    expect(await sealsOf(clinic)).toHaveLength(1);
  });

  it.each([
    ["", { event: "access_log_not_sealed" }],
    // A seal with this signature could never be verified, and seals are never written again.
    [JSON.stringify({ ...JSON.parse(AUDIT_SIGNING_KEY), x: ANOTHER_X }), { event: "fault" }],
  ])("seals nothing without a matching signing key, and logs it: %j", async (key, said) => {
    const clinic = await anEmptyLog();
    await addEntries(clinic, "2026-01-10T10:00:00Z");
    const logged = await logOf(() => sealDay("2026-01-10", { AUDIT_SIGNING_KEY: key }));
    expect(logged).toContainEqual(expect.objectContaining(said));
    expect(await sealsOf(clinic)).toEqual([]);
  });
});

describe("Access log entries", () => {
  const left = async ({ id }: { id: number }) =>
    (
      await env.DB.prepare("select id from access_logs where organization_id = ? order by id")
        .bind(id)
        .all<{ id: number }>()
    ).results.map((row) => row.id);

  it("are deleted 400 days after their day was sealed, but the file stays", async () => {
    const clinic = await anEmptyLog();
    const [first, second, third] = await addEntries(
      clinic,
      "2024-01-10T10:00:00Z",
      "2024-01-10T11:00:00Z",
      "2024-01-11T10:00:00Z",
    );
    await sealDay("2024-01-10");
    await sealDay("2024-01-11");
    const sealedAt = closedAt("2024-01-10");
    await runCronAt(sealedAt + 400 * DAY);
    expect(await left(clinic)).toEqual([first, second, third]);
    await runCronAt(sealedAt + 400 * DAY + 1);
    expect(await left(clinic)).toEqual([third]);
    expect(await idsInFile(clinic, "2024-01-10")).toEqual([first, second]);
  });

  it("are deleted 400 days after they were written if the organization has no sealed days", async () => {
    const clinic = await anEmptyLog();
    const made = Date.parse("2024-02-10T10:00:00Z");
    const [, second] = await addEntries(clinic, "2024-02-10T10:00:00Z", "2024-02-10T10:00:01Z");
    await runCronAt(made + 400 * DAY, { AUDIT_SIGNING_KEY: "" });
    expect(await left(clinic)).toHaveLength(2);
    await runCronAt(made + 400 * DAY + 1, { AUDIT_SIGNING_KEY: "" });
    expect(await left(clinic)).toEqual([second]);
  });

  it("are kept until their day is sealed, if earlier days were", async () => {
    const clinic = await anEmptyLog();
    await addEntries(clinic, "2024-03-10T10:00:00Z");
    await sealDay("2024-03-10");
    const [unsealed] = await addEntries(clinic, "2024-03-11T10:00:00Z");
    const later = closedAt("2024-03-11") + 500 * DAY;
    for (let run = 0; run < 2; run++) await runCronAt(later, { AUDIT_SIGNING_KEY: "" });
    expect(await left(clinic)).toEqual([unsealed]);
  });
});

it("A seal with reversed ids is refused, so that it cannot replace an earlier one", async () => {
  const { id } = await anOrganization();
  const seal = (date: string, first_id: number, last_id: number, previous: string | null) =>
    env.DB.prepare(
      `insert or replace into access_log_seals (organization_id, date, count, first_id, last_id, sha256, previous, jws, jws_sha256, created_at)
       values (?1, ?2, 1, ?3, ?4, 'a', ?5, ?2, ?2, 1)`,
    )
      .bind(id, date, first_id, last_id, previous)
      .run();
  await seal("2026-01-01", 1, 10, null);
  await seal("2026-01-02", 11, 20, "2026-01-01");
  await expect(seal("2026-01-03", 21, 10, "2026-01-02")).rejects.toThrow("a seal follows the one before it");
});
