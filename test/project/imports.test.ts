import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path/posix";
import { describe, expect, it } from "vitest";

const ROLES = [
  "external",
  "platform",
  "service",
  "fields",
  "schemas",
  "responses",
  "merge",
  "policy",
  "refusals",
  "sql",
  "lists",
  "entries",
  "chores",
  "queue",
  "files",
  "keys",
  "tokens",
  "openapi",
];

/** Files of resources whose role is not in the list, and why they are files of their own. */
const OTHER_ROLES: Record<string, string> = {
  "access_logs/access_logs.ndjson.ts": "entries as lines, without the database",
  "api_clients/api_clients.cache.ts": "what an isolate knows of clients, between requests",
  "bulk_invites/bulk_invites.rows.ts": "how pending rows end in the background, in portions",
  "calls/calls.reads.ts": "what a report of a call is decided on, whoever reports it",
  "calls/calls.results.ts": "a call with what there is of its results, which other resources' tables have",
  "invite_mails/invite_mails.content.ts": "what the mail says, without the database",
  "invite_mails/invite_mails.limits.ts": "how many mails an organization sends, and an address gets",
  "invites/invites.acceptance.ts": "what the token does that an invitee is mailed",
  "roles/roles.authors.ts":
    "who asks for what both the platform and administrators can do, with the read that says so",
  "transcripts/transcripts.document.ts": "how lines are compressed, without the database",
  "transcripts/transcripts.webvtt.ts": "how lines are written as captions, without the database",
  "waiting_rooms/waiting_rooms.slugs.ts":
    "how a slug is made, and what is found by every slug that a room ever had",
  "visits/visits.reports.ts": "everything that the key means of somebody who came by the link of a visit",
  "webhook_deliveries/webhook_deliveries.sending.ts":
    "one signed request to a receiver, without the database",
  "participants/participants.stays.ts":
    "which stay a report is about, until when it lasts, and with which times its events are written",
  "participants/participants.waiting.ts": "who waits in a room, and the record of who has read that",
};

interface Import {
  from: string;
  to: string;
  /** Whether nothing of it is left in the program. */
  isOnlyOfTypes: boolean;
}

const files = readdirSync("src", { recursive: true, encoding: "utf8" })
  .map((file) => file.replaceAll("\\", "/"))
  .filter((file) => file.endsWith(".ts") && !file.endsWith(".d.ts"))
  .sort();

/** Every import of one file of src by another, those of types too. JSON imports nothing. */
const imports: Import[] = files.flatMap((from) => {
  const source = readFileSync(join("src", from), "utf8").replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
  const specifiers = source.matchAll(
    /((?:import|export) type [^;]*?)?(?:\bfrom\s*|\bimport\s*\(?\s*)"(\.[^"$]+(?<!\.json))"/g,
  );
  return [...specifiers].map(([, onlyTypes, specifier = ""]) => ({
    from,
    to: relative("src", join("src", dirname(from), specifier)),
    isOnlyOfTypes: onlyTypes !== undefined,
  }));
});

const resourceOf = (file: string) => /^resources\/([^/]+)\//.exec(file)?.[1];
const roleOf = (file: string) =>
  resourceOf(file) ? basename(file, ".ts").split(".").slice(1).join(".") : undefined;
const isApi = (file: string) => /_api\.ts$/.test(file) || /^(external|platform)$/.test(roleOf(file) ?? "");

const isMade = (file: string) => file.startsWith("../dist/client/");

const say = ({ from, to }: Import) => `${from} imports ${to}`;

describe("Of the files in src,", () => {
  it("each imports files that there are", () => {
    expect(imports.length).toBeGreaterThan(files.length);
    // Of what is made, the client package has its own imports.
    const unknown = imports.filter(({ to }) => !existsSync(join("src", to)) && !isMade(to));
    expect(unknown.map(say)).toEqual([]);
  });

  it("those of a resource are named after their folder and their role", () => {
    const misnamed = files.filter((file) => {
      const resource = resourceOf(file);
      if (!resource || file.slice("resources/".length) in OTHER_ROLES) return false;
      return !ROLES.some((role) => file === `resources/${resource}/${resource}.${role}.ts`);
    });
    expect(misnamed).toEqual([]);
  });

  it("each exception to those names is still there", () => {
    const gone = Object.keys(OTHER_ROLES).filter((file) => !files.includes(`resources/${file}`));
    expect(gone).toEqual([]);
  });

  it("none is long but the schema", () => {
    const isLong = (file: string) => readFileSync(file, "utf8").split("\n").length > 301;
    const all = readdirSync("src", { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
    const paths = all
      .map(({ parentPath, name }) => join(parentPath, name))
      .filter((file) => !file.endsWith(".png"));
    expect(paths.filter(isLong)).toEqual([join("src", "database", "schema.ts")]);
  });

  it("no two of the Worker have a function of the same name", () => {
    const FUNCTION =
      /^(?:export )?(?:(?:async )?function\*? |const (?=\w+ = (?:async )?(?:[(<]|preparedQuery\b)))(\w+)/gm;
    const functions = files
      .filter((file) => !/^(client|dev|reference)\//.test(file))
      .flatMap((file) => [
        ...new Set([...readFileSync(join("src", file), "utf8").matchAll(FUNCTION)].map(([, name]) => name)),
      ]);
    expect(functions.length).toBeGreaterThan(files.length);
    expect(functions.filter((name, n) => functions.indexOf(name) !== n)).toEqual([]);
  });

  it("no service imports the service of another resource, and nothing beside a service does", () => {
    const offenders = imports.filter(
      ({ from, to }) =>
        resourceOf(from) && !isApi(from) && roleOf(to) === "service" && resourceOf(from) !== resourceOf(to),
    );
    expect(offenders.map(say)).toEqual([]);
  });

  it("fields, schemas, SQL and merge functions import neither a service nor an API", () => {
    const offenders = imports.filter(
      ({ from, to }) =>
        /^(fields|schemas|sql|merge)$/.test(roleOf(from) ?? "") && (roleOf(to) === "service" || isApi(to)),
    );
    expect(offenders.map(say)).toEqual([]);
  });

  it("the Worker's leave the shapes of responses and what the reference says out of its bundle", () => {
    const isReference = (file: string) =>
      /^(responses|openapi)$/.test(roleOf(file) ?? "") || isOfReference(file);
    const isOfReference = (file: string) => /^(openapi|reference|dev)\/|\.openapi\.ts$/.test(file);
    const offenders = imports.filter(
      ({ from, to, isOnlyOfTypes }) => isReference(to) && !isReference(from) && !isOnlyOfTypes,
    );
    expect(imports.some(({ from, to }) => isReference(to) && !isReference(from))).toBe(true);
    expect(offenders.map(say)).toEqual([]);
  });

  it("only commands import what builds the reference", () => {
    const offenders = imports.filter(
      ({ from, to }) => to.startsWith("reference/") && !/^(reference|dev)\//.test(from),
    );
    expect(offenders.map(say)).toEqual([]);
  });

  it("those of the client package import nothing else, and only commands and the build import them", () => {
    const isOfPackage = (file: string) => file.startsWith("client/") || isMade(file);
    const offenders = imports.filter(({ from, to }) =>
      from.startsWith("client/") ? !isOfPackage(to) : isOfPackage(to) && !/^(reference|dev)\//.test(from),
    );
    expect(imports.some(({ to }) => isMade(to))).toBe(true);
    expect(offenders.map(say)).toEqual([]);
  });

  it("those of the database and the directory import nothing of what is built on them", () => {
    const offenders = imports.filter(
      ({ from, to }) =>
        (/^(database|directory)\//.test(from) && /^(resources|http|livekit|queues)\//.test(to)) ||
        (from.startsWith("database/") && to.startsWith("directory/")),
    );
    expect(imports.some(({ from }) => from.startsWith("directory/"))).toBe(true);
    expect(offenders.map(say)).toEqual([]);
  });

  it("none imports itself by way of others, not for a type either", () => {
    expect(cycles()).toEqual([]);
  });
});

/** For each group of files that reach each other, one shortest way around: `a -> b -> a`. */
function cycles(): string[] {
  const importsOf = (file: string) => imports.filter(({ from }) => from === file).map(({ to }) => to);

  /** The shortest way from a file back to itself, without the last step; undefined where there is none. */
  function wayAround(start: string): string[] | undefined {
    const ways = [[start]];
    const seen = new Set<string>();
    for (const way of ways)
      for (const next of importsOf(way.at(-1) ?? "")) {
        if (next === start) return way;
        if (!seen.has(next)) ways.push([...way, next]);
        seen.add(next);
      }
    return undefined;
  }

  const found = new Map<string, string>();
  for (const file of files) {
    const way = wayAround(file);
    // The same way around, begun elsewhere, is the same cycle.
    if (way)
      found.set([...way].sort().join(), found.get([...way].sort().join()) ?? [...way, file].join(" -> "));
  }
  return [...found.values()];
}
