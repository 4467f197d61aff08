import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import * as lifetimes from "../../../src/lifetimes.ts";
import * as limits from "../../../src/limits.ts";
import { AUTHORIZATION_CODE } from "../../../src/openapi/story.ts";
import { API_NAMES } from "../../../src/reference/apis.ts";
import { inHereDocument, inSingleQuotes } from "../../../src/reference/guide_bodies.ts";
import { fillIn, GUIDES, guideFiles, guidesOf, HOME } from "../../../src/reference/guides.ts";
import { guideValues, introductionOf } from "../../../src/reference/info.ts";
import { readOperator } from "../../../src/reference/operator.ts";
import * as units from "../../../src/units.ts";

const values = { ...units, ...limits, ...lifetimes, ...guideValues(), SERVER: "https://visits.test" };

const filled = (text: string) => fillIn(text, values, "guide.md");

describe("A guide", () => {
  it.each([
    ["up to {{MAX_BULK_INVITES}} invites", "up to 1,000 invites"],
    ["`q={{CLIENT_LIMIT_PER_MINUTE digits}}` is {{CLIENT_LIMIT_PER_MINUTE}}", "`q=1200` is 1,200"],
    ["{{EVENTS_KEPT_FOR / DAY}} days", `${lifetimes.EVENTS_KEPT_FOR / units.DAY} days`],
    ["{{BULK_INVITES_BODY_LIMIT / 1024 / 1024}} MiB", "1 MiB"],
    ["API={{SERVER}}/api", "API=https://visits.test/api"],
  ])("shows the current value of a limit: %s", (text, shown) => {
    expect(filled(text)).toBe(shown);
  });

  it("shows responses as in the examples of the operations", () => {
    expect(filled("before\n\n{{response exchangeToken}}\n\nafter")).toBe(
      `before\n\n\`\`\`json\n{"code": "${AUTHORIZATION_CODE}"}\n\`\`\`\n\nafter`,
    );
    expect(filled("{{response getTranscript as text/vtt}}")).toMatch(/^```text\nWEBVTT\n[^`]*\n```$/);
    expect(filled("{{response getInvite}}")).not.toContain("accept_url");
    expect(filled("{{response getInviteWithAcceptUrl}}")).toContain("accept_url");
    const past = filled("{{response listWaitingRooms: A page past the end}}");
    expect(past).toContain('```json\n{"waiting_rooms": [], "pagination": {"current_page": 2, ');
  });

  it("shows request bodies as in their examples, indented like their commands", () => {
    const command = filled("curl \\\n  -d '{{request reportTranscript}}'");
    expect(command).toMatch(/^curl \\\n {2}-d '\{\n {4}"transcript": \{\n {6}"summary": ".*",\n/);
    expect(command).toMatch(/\n {6}\]\n {4}\}\n {2}\}'$/);
    expect(filled("-d '{{request updateUser: The providers whom an assistant assists}}'")).toBe(
      `-d '{"user": {"assists": [12]}}'`,
    );
  });

  it("escapes apostrophes for the shell", () => {
    const body = { waiting_room: { name: "Children's rooms", theme: "'" } };
    const text = inSingleQuotes(body, ["waiting_room.theme=THEME"], "guide.md");
    const command = `THEME="it's"; printf %s '${text}'`;
    const printed = execFileSync("sh", ["-c", command], { encoding: "utf8" });
    expect(JSON.parse(printed)).toEqual({ waiting_room: { name: "Children's rooms", theme: "it's" } });
  });

  it("passes secrets in the input of a command", () => {
    expect(filled("curl -d @- <<END\n{{input exchangeToken, token_exchange.token=TOKEN}}\nEND")).toBe(
      'curl -d @- <<END\n{"token_exchange": {"token": "$TOKEN"}}\nEND',
    );
    const text = inHereDocument({ id: 1, code: "x", name: "Children's" }, ["id=ID", "code=CODE"], "guide.md");
    const command = `ID=7; CODE=secret; cat <<END\n${text}\nEND\n`;
    const printed = execFileSync("sh", ["-c", command], { encoding: "utf8" });
    expect(JSON.parse(printed)).toEqual({ id: 7, code: "secret", name: "Children's" });
    for (const name of ["$(date)", "`date`", "a\nb"])
      expect(() => inHereDocument({ name }, [], "guide.md")).toThrow("a shell would change the body");
  });

  it.each([
    ["external", guidesOf("external", values)],
    ["platform", guidesOf("platform", values)],
    ["README", readFileSync("README.md", "utf8")],
    ["deploying", readFileSync("src/docs/deploying.md", "utf8")],
    ["backup", readFileSync("src/docs/backup.md", "utf8")],
  ])("puts no secret into an argument of a command: %s", (_, text) => {
    const blocks = [...text.matchAll(/^ *```sh\n([\s\S]*?)^ *```/gm)].map(([, block = ""]) => block);
    expect(blocks.length).toBeGreaterThan(0);
    for (const block of blocks) {
      const withoutInput = block.replace(/<<END\n[\s\S]*?\nEND$/gm, "");
      expect(withoutInput).not.toMatch(
        /(-H|--header|-u|--user|--oauth2-bearer) *['"]?.*(Secret|Authorization)/i,
      );
      expect(withoutInput).not.toMatch(/\$\{?(TOKEN|CODE|SECRET|PLATFORM_API_TOKEN|CLIENT_SECRET)\b/);
      // The shell's history must not keep it either.
      expect(block).not.toMatch(/^ *(export )?(TOKEN|CODE|\w*SECRET|\w*TOKEN)=(?!\$\(cat )/m);
    }
  });

  it.each([
    ["response createInvit", "there is no operation createInvit"],
    ["response retireWaitingRoom", "retireWaitingRoom has no response with a body"],
    ["request listInvites", "listInvites has no request with a body"],
    ["response listWaitingRooms: No such", 'listWaitingRooms has no example "No such" of a response'],
    ["request createInvite, organization_invite.name=NAME", "has no text or number organization_invite.name"],
    ["request createInvite, no.such.field=NAME", "has no text or number no.such.field"],
    ["response createInvite, email=EMAIL", "is not known"],
    ["response getTranscript as text/srt", "getTranscript has no response as text/srt"],
    ["request createInvite organization_invite.email=EMAIL", "is not known"],
    ["NO_SUCH_LIMIT", "is not known"],
    ["EVENTS_KEPT_FOR / NO_SUCH_UNIT", "is not known"],
    ["", "is not known"],
    ["FAULTS / 2", "is not known"],
  ])("is not built with {{%s}}", (expression, reason) => {
    const build = () => filled(`{{${expression}}}`);
    expect(build).toThrow(`guide.md: {{${expression}}}`);
    expect(build).toThrow(reason);
  });
});

const sources = [HOME, ...API_NAMES.flatMap((api) => guideFiles(api))].map((file) => [
  file,
  readFileSync(file, "utf8"),
]);

const prose = (markdown: string) => markdown.replace(/```[\s\S]*?```/g, "").replace(/`[^`\n]*`/g, "");

const UNITS =
  "seconds|minutes|hours|days|characters|requests|invites|endpoints|lines|participants|objects|KiB|MiB|a minute";

describe("The guides", () => {
  it("are all on a page", () => {
    const all = readdirSync(GUIDES, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name));
    expect(new Set(sources.map(([file]) => file))).toEqual(new Set(all));
  });

  it("have no limits written by hand", () => {
    for (const [file, text = ""] of sources)
      expect(prose(text).match(new RegExp(`\\d[\\d,.]* (${UNITS})`, "g")), file).toBeNull();
  });

  it("take request and response bodies from the examples of the operations", () => {
    const byHand = (pattern: RegExp) =>
      sources.flatMap(([file = "", text = ""]) => [...text.matchAll(pattern)].map(() => basename(file)));
    // Except for an error, a public key, and the metadata and attributes for LiveKit.
    const json = ["14_errors.md", "18_checking_the_log.md", "01_setting_up.md", "01_setting_up.md"];
    expect(byHand(/^```json$/gm)).toEqual(json);
    expect(byHand(/ -d (?!'\{\{request |@- <<END\n\{\{input )/g)).toEqual(["14_errors.md"]);
  });

  it("have no comments in their commands, because zsh does not accept them", () => {
    for (const [file, text = ""] of sources)
      for (const [block] of text.matchAll(/```sh\n[\s\S]*?```/g)) expect(block, file).not.toMatch(/(^| )#/m);
  });
});

describe("The introduction of a document", () => {
  const version = JSON.parse(readFileSync("package.json", "utf8")).version;

  it("has the version of package.json, which is also the first in the changelog", () => {
    expect(introductionOf("external").info.version).toBe(version);
    const [, newest] = /^# Changelog\n\n## (\S+)\n/m.exec(guidesOf("external", values)) ?? [];
    expect(newest).toBe(version);
  });

  it("shows the address and the contact from wrangler.toml", () => {
    const name = "The operator of this service";
    for (const [url, CONTACT, contact] of [
      ["https://visits.example.org", "help@example.org", { email: "help@example.org" }],
      [undefined, "https://example.org/help", { url: "https://example.org/help" }],
      [undefined, "", {}],
    ] as const)
      expect(readOperator({ PUBLIC_URL: url ?? "", CONTACT })).toMatchObject({
        url,
        contact: { name, ...contact },
      });
  });

  it("puts the operator's address, if there is one, into its servers and the guides", () => {
    for (const [PUBLIC_URL, server, address] of [
      ["", "", "https://visits.example.com"],
      ["https://visits.example.org", "https://visits.example.org", "https://visits.example.org"],
    ] as const) {
      const choices = { vars: { PUBLIC_URL } };
      expect(introductionOf("external", choices).servers[0]?.url).toBe(`${server}/api/external`);
      expect(guidesOf("external", guideValues(choices))).toContain(`\nAPI=${address}/api/external\n`);
    }
  });

  it.each([
    ["PUBLIC_URL", "visits.example.org"],
    ["PUBLIC_URL", "http://visits.example.org"],
    ["PUBLIC_URL", "https://visits.example.org/"],
    ["PUBLIC_URL", "https://visits.example.org/api"],
    ["CONTACT", "ask Ada"],
    ["CONTACT", "http://example.org"],
  ])("is not built with %s = %s", (name, value) => {
    expect(() => readOperator({ [name]: value })).toThrow(/^wrangler\.toml: (PUBLIC_URL|CONTACT) must be /);
  });

  it.each([undefined, "http://localhost:8790"])(
    "sends a developer's requests to the own server: %s",
    (url) => {
      vi.stubEnv("DEVELOPMENT_URL", url);
      onTestFinished(() => void vi.unstubAllEnvs());
      const client = { CLIENT_ID: "demo", CLIENT_SECRET: "demo-secret" };
      const development = { ...client, PLATFORM_API_TOKEN: "demo-token" };
      const { servers } = introductionOf("external", { development });
      expect(servers).toMatchObject([{ url: "/api/external" }]);
      const guides = guidesOf("external", guideValues({ development }));
      expect(guides).toMatch(/^header = "X-Client-Secret: demo-secret"\n/m);
      expect(guides).toContain(`\nAPI=${url ?? "http://localhost:8787"}/api/external\n`);
    },
  );
});
