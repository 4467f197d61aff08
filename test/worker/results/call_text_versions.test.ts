import { describe, expect, it } from "vitest";
import { MAX_TEXT_VERSIONS } from "../../../src/limits.ts";
import { entriesAbout } from "../support/access_logs.ts";
import { atOnce } from "../support/at_once.ts";
import { aCall } from "../support/calls.ts";
import { storedRows } from "../support/database.ts";
import { expectMissingRole, expectRefusal } from "../support/expectations.ts";
import { anOrganization, given } from "../support/organization.ts";
import { workerWith } from "../support/queue.ts";
import { says } from "../support/transcripts.ts";
import { changingNothing, changingOnlyTheLog } from "../support/unchanged.ts";

const REASON = "The dose was misheard";

/** Corrections of each kind of text. Each `n` makes a different one. */
const TEXTS = {
  soap_note: {
    notFound: "SOAP note not found",
    report: { is_final: true, text: "Plan: 0" },
    correction: (n: number) => ({ text: `Plan: ${n}`, reason: REASON }),
  },
  transcript: {
    notFound: "Transcript not found",
    report: { is_final: true, summary: "Plan: 0" },
    correction: (n: number) => ({ summary: `Plan: ${n}`, reason: REASON }),
  },
} as const;

type Kind = keyof typeof TEXTS;

/** A call with both final texts. */
async function aDocumentedCall() {
  const clinic = await anOrganization();
  const visit = await aCall(clinic);
  const [provider, rita] = visit.participants;
  const lines = [says(provider, 0, 1.25, "Take five tablets."), says(rita, 1.5, 2, "Five?")];
  await given(visit.reportTranscript({ ...TEXTS.transcript.report, lines }));
  await given(visit.reportSoapNote(TEXTS.soap_note.report));
  return {
    clinic,
    visit,
    client: clinic.client,
    correct: (kind: Kind, correction: object, client = clinic.client) =>
      client.put(`${visit.path}/${kind}`, { [kind]: correction }),
    read: (kind: Kind) => given(clinic.client.get(`${visit.path}/${kind}`)),
    versions: async (kind: Kind) =>
      (await given(clinic.client.get(`${visit.path}/${kind}/versions`))).versions,
  };
}

describe.each(Object.entries(TEXTS) as [Kind, (typeof TEXTS)[Kind]][])(
  "PUT …/calls/{call_id}/%s",
  (kind, { notFound, correction }) => {
    // The model compares the texts and their versions.
    it("writes an event and an entry of the access log, and keeps the version", async () => {
      const { correct, versions, visit, clinic } = await aDocumentedCall();
      await given(correct(kind, correction(1)));
      const user_id = clinic.admin.user_id;
      expect(await versions(kind)).toMatchObject([{ version: 1, reason: REASON, user_id }]);
      const { events } = await given(clinic.client.get(`/events?type=${kind}.corrected`));
      const data = { organization_user_id: visit.owner.id, call_id: visit.id };
      expect(events).toMatchObject([{ data }]);
      const { access_logs } = await given(clinic.client.get("/access_logs?event=update"));
      expect(access_logs).toMatchObject([{ resource: kind, resource_id: visit.id, user_id }]);
    });

    it("adds no version if nothing changes, but records a read, since the response shows the text", async () => {
      const { clinic, correct, read } = await aDocumentedCall();
      const text = await read(kind);
      const before = (await entriesAbout(clinic, "read", kind)).length;
      expect(await changingOnlyTheLog(() => given(correct(kind, correction(0))))).toEqual(text);
      expect(await entriesAbout(clinic, "read", kind)).toHaveLength(before + 1);
      await given(correct(kind, correction(1)));
      await changingOnlyTheLog(() => given(correct(kind, correction(1))));
    });

    it("returns 403 or 404 to a user who has just lost the role or the access", async () => {
      const { clinic, correct, versions, visit } = await aDocumentedCall();
      const change = (id: number, roles: string[]) =>
        given(clinic.client.put(`/organization_users/${id}`, { organization_user: { roles } }));
      const bea = await clinic.addUser("Bea Boss", ["organization_admin"]);
      const hers = await clinic.addClient(bea.id);
      await given(hers.get(visit.path));
      await change(bea.id, ["provider"]);
      // Not with `changingNothing`, which lets an hour pass, so that the isolate looks the client up again.
      expectRefusal(await correct(kind, correction(1), hers), 404, notFound);
      await change(bea.id, ["provider_assistant"]);
      expectMissingRole(await correct(kind, correction(1), hers));
      expect(await versions(kind)).toEqual([]);
    });

    it("is refused after the maximum number of corrections", async () => {
      const { correct } = await aDocumentedCall();
      for (let n = 1; n <= MAX_TEXT_VERSIONS; n++) await given(correct(kind, correction(n)));
      expectRefusal(
        await changingNothing(() => correct(kind, correction(0))),
        422,
        /was corrected too often/,
      );
      await changingOnlyTheLog(() => given(correct(kind, correction(MAX_TEXT_VERSIONS))));
    });

    it("is done before a simultaneous DELETE or returns 404, and the versions are deleted too", async () => {
      const { clinic, client, correct, visit } = await aDocumentedCall();
      await given(correct(kind, correction(1)));
      expect(await storedVersions(clinic)).toBe(1);
      const path = `${visit.path}/${kind}`;
      const answers = await atOnce(9, (n) =>
        n === 4 ? client.delete(path) : correct(kind, correction(n + 2)),
      );
      for (const { status } of answers) expect(status).toBeOneOf([200, 204, 404]);
      expectRefusal(await client.get(path), 404, notFound);
      expectRefusal(await client.get(`${path}/versions`), 404, notFound);
      expectRefusal(await correct(kind, correction(1)), 404, notFound);
      expect(await storedVersions(clinic)).toBe(0);
    });

    it("adds versions that the cron deletes with the text", async () => {
      const { clinic, client, correct, visit } = await aDocumentedCall();
      await given(correct(kind, correction(1)));
      expect(await storedVersions(clinic)).toBe(1);
      await given(client.put("/organization", { organization: { transcript_retention_days: 30 } }));
      await workerWith({}).runCron();
      expectRefusal(await client.get(`${visit.path}/${kind}/versions`), 404, notFound);
      expect(await storedVersions(clinic)).toBe(0);
    });

    it("puts neither the text nor the reason into events, the access log or errors", async () => {
      const { client, correct } = await aDocumentedCall();
      await given(correct(kind, { ...correction(1), reason: "SECRET-REASON" }));
      const refused = await correct(kind, { ...correction(2), reason: "SECRET-REASON".repeat(50) });
      const shown = [
        refused.body,
        await given(client.get("/events")),
        await given(client.get("/access_logs")),
      ];
      expect(JSON.stringify(shown)).not.toMatch(/SECRET|Plan/);
    });
  },
);

const storedVersions = async ({ id }: { id: number }) =>
  (await storedRows({ id }, "call_text_versions")).length;
