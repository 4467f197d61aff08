import { spawn } from "node:child_process";
import { describe, expect, inject, it } from "vitest";
import { printsOf } from "../support/prints.ts";
import { platformToken } from "./support/callers.ts";
import { done, refused } from "./support/ended.ts";
import { anOrganization } from "./support/organization.ts";

const server = inject("sharedServer");

const args = ({ organization }: { organization: { id: number } }, url = server.url) => [
  ...["--url", url],
  ...["--organization", String(organization.id)],
];

/** Runs `npm run demo` without the build before it. */
function demo(args: string[], consent = "--yes", token = platformToken() ?? "") {
  const env = { ...process.env, PLATFORM_API_TOKEN: token };
  const child = spawn(process.execPath, ["src/dev/demo.ts", ...args, consent], { env });
  return printsOf(child).ended;
}

async function aClinicWithProvider() {
  const clinic = await anOrganization(server.url);
  return { ...clinic, provider: await clinic.addUser("paula", "provider") };
}

type Clinic = Awaited<ReturnType<typeof anOrganization>>;

const callsOf = async ({ external }: Clinic) => (await external("GET", "/calls")).body.calls;

describe.concurrent("npm run demo with --organization", () => {
  it("plays visits with their results, and other visits the next time, and nothing with --dry-run", async () => {
    const clinic = await aClinicWithProvider();
    const { external, provider } = clinic;
    expect(await done(demo(args(clinic), "--dry-run"))).toContain("Play 2 visits");
    expect(await callsOf(clinic)).toEqual([]);
    const output = await done(demo(args(clinic)));
    expect(output).toContain(`Play 2 visits in the organization ${clinic.organization.id}, Hillside Clinic`);
    const [name] = /demo-[0-9a-f]{8}/.exec(output) ?? [];
    const ready = { transcript: "ready", soap_note: "ready" };
    const calls = await callsOf(clinic);
    expect(calls).toMatchObject([
      { is_ended: true, results: { ...ready, egresses: 0 } },
      { is_ended: true, results: { ...ready, egresses: 1 } },
    ]);
    for (const [n, { id }] of calls.reverse().entries()) {
      const external_reference = `${name}-${n + 1}`;
      const path = `/organization_users/${provider.id}/calls/${id}`;
      expect((await external("GET", path)).body).toMatchObject({ external_reference, ended_by: "reported" });
      const { participants } = (await external("GET", `${path}/participants`)).body;
      expect(participants).toMatchObject([
        { role: "recipient", external_reference, recording_consent: n === 0 },
        { role: "provider", user_id: provider.user_id, recording_consent: true },
      ]);
      const found = await external("GET", `/calls?participant_reference=${external_reference}`);
      expect(found.body.calls.map((call: { id: number }) => call.id)).toEqual([id]);
      expect((await external("GET", `${path}/transcript`)).body.transcript_lines).toHaveLength(2);
    }
    await done(demo(args(clinic)));
    expect(await callsOf(clinic)).toHaveLength(4);
  });

  it("needs a provider", async () => {
    expect(await refused(demo(args(await anOrganization(server.url))))).toContain(
      "The organization has no provider, who could hold the calls: add one first.\n",
    );
  });

  it("says why the service refuses the token or the organization", async () => {
    const clinic = await aClinicWithProvider();
    expect(await refused(demo(args(clinic), "--yes", "another-token"))).toMatch(/^GET \S+: 401: /);
    expect(await refused(demo(args({ organization: { id: 999_999_999 } })))).toMatch(
      /^GET \S+: 404: Organization not found/,
    );
    expect(await callsOf(clinic)).toEqual([]);
  });

  it.each([
    [
      ["--url", "http://visits.example.com", "--organization", "12"],
      "--url must be the address of the service",
    ],
    [["--organization", "12"], "--url must be the address of the service"],
    [["--url", "https://visits.example.com"], "--organization must be the id of an organization."],
    [["--url", "https://visits.example.com", "--organization", "12"], "Set the environment variable", ""],
  ])("refuses wrong arguments before it sends anything: %j", async (args, said, token = "a-token") => {
    const output = await refused(demo(args, "--yes", token));
    expect(output).toContain(said);
    expect(output).toContain("Usage: npm run demo -- [URL] [--verbose] | --url URL --organization ID\n");
  });
});
