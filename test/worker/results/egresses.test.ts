import { env } from "cloudflare:workers";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { anEndedEgress } from "../support/egresses.ts";
import { aTimestamp, expectRefusal } from "../support/expectations.ts";
import { given } from "../support/organization.ts";
import { changingNothing, changingOnlyTheLog } from "../support/unchanged.ts";

it("A later PUT …/egresses/{egress_id} sets, keeps and clears started_at, duration and size, without an entry in the audit log", async () => {
  const { report, reported, get, list, audit } = await anEndedEgress();
  const file = { started_at: "2026-01-31T10:30:02.250+01:00", duration: 12.34567, size: 104_857_600 };
  const described = { started_at: "2026-01-31T09:30:02.250Z", duration: 12.346, size: 104_857_600 };
  const answer = await given(report(file));
  expect(answer).toEqual({ ...reported, ...described, updated_at: aTimestamp });
  await changingNothing(() => given(report(file)));
  await changingNothing(() => given(report({})));
  expect((await get(reported.id)).body).toMatchObject(described);
  expect((await list()).body.egresses).toEqual([answer]);
  const cleared = await given(report({ started_at: null, duration: null, size: null }));
  expect(cleared).toEqual({ ...reported, updated_at: aTimestamp });
  // The entry for the end of the recording.
  expect((await given(audit(reported.id, "?event=update"))).audit_logs).toHaveLength(1);
});

describe("GET …/egresses/{id}", () => {
  it.each([
    ["visits/2026/übung (1)'s*!.wav", "visits/2026/%C3%BCbung%20%281%29%27s%2A%21.wav"],
    ["a..b/...wav", "a..b/...wav"],
    ["what?#now&then+%2e%2e/x.wav", "what%3F%23now%26then%2B%252e%252e/x.wav"],
    ["..\\..\\x.wav", "..%5C..%5Cx.wav"],
    ["https:/elsewhere.test", "https%3A/elsewhere.test"],
  ])("links to this file in this bucket, whatever its key: %s", async (name, encoded) => {
    const { clinic, report, reported, get } = await anEndedEgress();
    await given(report({ storage_key: `${clinic.slug}/${name}` }));
    const url = new URL((await get(reported.id)).body.url);
    expect(url.origin).toBe("https://service.test");
    expect(url.pathname).toBe(`/cdn-cgi/local/r2/s3/recordings/${clinic.slug}/${encoded}`);
    expect(url.hash).toBe("");
    expect([...url.searchParams.keys()]).toHaveLength(8);
  });

  it.each([
    ["is refused by the database", "abort, 'no room for entries'"],
    ["is lost without an error", "ignore"],
  ])("returns no URL if its entry %s", async (_, raise) => {
    const { reported, get } = await anEndedEgress();
    const logged = vi.spyOn(console, "error").mockImplementation(() => {});
    onTestFinished(async () => {
      logged.mockRestore();
      await env.DB.prepare("drop trigger no_reads").run();
    });
    await env.DB.prepare(
      `create trigger no_reads before insert on egress_audit_logs when new.event = 'read'
      begin select raise(${raise}); end`,
    ).run();
    expectRefusal(await changingOnlyTheLog(() => get(reported.id)), 500, "Internal server error");
    expect(logged).toHaveBeenCalledOnce();
    expect(JSON.stringify(logged.mock.calls)).not.toMatch(/X-Amz|\.wav/);
  });
});
