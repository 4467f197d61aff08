import { describe, expect, it, onTestFinished, vi } from "vitest";
import { CORRECTION_BODY_LIMIT } from "../../../src/limits.ts";
import { MAX_BODIES_SIZE } from "../../../src/tuning.ts";
import { KIB, SECOND } from "../../../src/units.ts";
import { entriesAbout } from "../support/access_logs.ts";
import { type Fetcher, theWorker } from "../support/api.ts";
import { aCall } from "../support/calls.ts";
import { storedRows } from "../support/database.ts";
import { expectMissingRole, expectRefusal } from "../support/expectations.ts";
import { aLiveKitRoom, aLiveKitServer, signatureOf } from "../support/livekit.ts";
import { anOrganization, given } from "../support/organization.ts";
import { travelTo } from "../support/time.ts";
import { changingNothingOf } from "../support/unchanged.ts";
import { throughWorkerWith } from "../support/worker.ts";

const BEGUN = "2026-11-24T23:59:50.000Z";
const WHOLE = "2026-11-25T00:00:10.000Z";

/** A body that makes its next piece when the Worker asks for it. */
const bodyOf = (pieces: AsyncIterator<Uint8Array>) =>
  new ReadableStream(
    {
      async pull(controller) {
        const { value, done } = await pieces.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
    },
    { highWaterMark: 0 },
  );

/** Sends the first byte of a body, waits for `meanwhile`, and sends the rest. */
const slowly =
  (meanwhile: () => unknown, fetcher = theWorker): Fetcher =>
  async (request) => {
    const bytes = new Uint8Array(await request.arrayBuffer());
    async function* pieces() {
      yield bytes.slice(0, 1);
      await meanwhile();
      yield bytes.slice(1);
    }
    const headers = new Headers(request.headers);
    headers.delete("Content-Length");
    return fetcher(new Request(request.url, { method: request.method, headers, body: bodyOf(pieces()) }));
  };

/** Lets the test decide when a second of reading has passed: the returned function ends one. */
function stoppedSeconds() {
  const start = globalThis.setInterval;
  const passing = new Set<() => void>();
  const spy = vi.spyOn(globalThis, "setInterval").mockImplementation(((work: () => void, pause: number) => {
    if (pause === SECOND) passing.add(work);
    return start(() => {}, pause);
  }) as typeof setInterval);
  onTestFinished(() => spy.mockRestore());
  return () => {
    for (const work of passing) work();
  };
}

/** Sends a body of 1 MiB in pieces, one for each second. */
function atRate(bytesPerSecond: number): Fetcher {
  const endSecond = stoppedSeconds();
  const worker = throughWorkerWith({});
  return async (request) => {
    const bytes = new Uint8Array(CORRECTION_BODY_LIMIT).fill(32);
    bytes.set(new Uint8Array(await request.arrayBuffer()));
    async function* pieces() {
      for (let end = 0; end < bytes.length; end += bytesPerSecond) {
        yield bytes.slice(end, end + bytesPerSecond);
        endSecond();
      }
    }
    const headers = new Headers(request.headers);
    headers.set("Content-Length", String(CORRECTION_BODY_LIMIT));
    return worker(new Request(request, { headers, body: bodyOf(pieces()) }));
  };
}

/** The body begins shortly before midnight, and is complete shortly after it. */
function overMidnight(fetcher?: Fetcher) {
  travelTo(BEGUN);
  return slowly(() => vi.setSystemTime(WHOLE), fetcher);
}

it("The time at which a slow body is complete counts, also for the access log and the day's quota", async () => {
  travelTo(BEGUN);
  const clinic = await anOrganization();
  const visit = await aCall(clinic);
  await given(visit.reportSoapNote({ is_final: true, text: "Plan: five" }));
  const livekit = await aLiveKitRoom(clinic);

  const make = { waiting_room: { name: "Cardiology" } };
  const room = await given(clinic.client.through(overMidnight()).post("/waiting_rooms", make));
  expect(room.created_at).toBe(WHOLE);
  const { usage } = await given(clinic.platform.get("/usage"));
  expect(usage).toContainEqual(expect.objectContaining({ date: "2026-11-25", writes: 1 }));

  const soap_note = { text: "Plan: two", reason: "The dose was misheard" };
  const path = `${visit.path}/soap_note`;
  await given(clinic.client.through(overMidnight()).put(path, { soap_note }));
  const { versions } = await given(clinic.client.get(`${path}/versions`));
  expect(versions).toMatchObject([{ created_at: WHOLE }]);
  expect(await entriesAbout(clinic, "update", "soap_note")).toMatchObject([{ at: Date.parse(WHOLE) }]);

  const hold = { legal_hold: {} };
  await given(clinic.platform.through(overMidnight()).put(`/calls/${visit.key}/legal_hold`, hold));
  expect((await given(clinic.client.get(visit.path))).legal_hold.began_at).toBe(WHOLE);

  await given(aLiveKitServer({ fetcher: overMidnight() }).send(livekit.joined("rita", 0)));
  const created_at = Date.parse(WHOLE);
  expect(await storedRows(clinic, "calls")).toContainEqual(expect.objectContaining({ created_at }));
});

describe("A request with a slow body", () => {
  const make = { waiting_room: { name: "Cardiology" } };

  it("is refused if its client is revoked meanwhile", async () => {
    travelTo("2026-11-24T12:00:00Z");
    const clinic = await anOrganization();
    const leaver = await clinic.addClient(clinic.admin.id);
    await given(leaver.get("/roles"));
    const afterRevocation = slowly(async () => {
      await given(clinic.client.delete(`/api_clients/${leaver.id}`));
      vi.setSystemTime("2026-11-24T12:01:00Z");
    });
    expectRefusal(await leaver.through(afterRevocation).post("/waiting_rooms", make), 401);
    expect((await given(clinic.client.get("/waiting_rooms"))).waiting_rooms).toEqual([]);
  });

  it("has the roles of its user at the time when the body is complete", async () => {
    travelTo("2026-11-24T12:00:00Z");
    const clinic = await anOrganization();
    const other = await clinic.addUser("Olga Other", ["organization_admin"]);
    const demoted = await clinic.addClient(other.id);
    await given(demoted.get("/roles"));
    const afterDemotion = slowly(async () => {
      await given(
        clinic.client.put(`/organization_users/${other.id}`, { organization_user: { roles: ["provider"] } }),
      );
      vi.setSystemTime("2026-11-24T12:01:00Z");
    });
    const hooks = { webhook_endpoint: { url: "https://hooks.example.com/x" } };
    expectMissingRole(await demoted.through(afterDemotion).post("/webhook_endpoints", hooks));
  });

  it.each(["external", "platform", "livekit"])(
    "is refused with 408 if nothing more of the body arrives in six seconds: %s API",
    async (name) => {
      const clinic = await anOrganization();
      const endSecond = stoppedSeconds();
      // The rest of the body never arrives.
      const fetcher = slowly(() => {
        for (let n = 0; n < 6; n++) endSecond();
        return new Promise(() => {});
      }, throughWorkerWith({}));
      const refused = await changingNothingOf(clinic, () =>
        name === "external"
          ? clinic.client.through(fetcher).post("/waiting_rooms", make)
          : name === "platform"
            ? clinic.platform.through(fetcher).post("/users", {
                user: { email: "a@example.com", display_name: "A", roles: [] },
              })
            : aLiveKitServer({ fetcher }).send("{}"),
      );
      expectRefusal(
        refused,
        408,
        "The request body did not arrive within 30 seconds, or came slower than 32 KiB a second. Send the request again.",
      );
    },
  );

  it.each([
    [64, 200],
    [32, 408],
    [1, 408],
  ])("of 1 MiB at %i KiB a second gets %i", async (rate, status) => {
    const clinic = await anOrganization();
    const visit = await aCall(clinic);
    await given(visit.reportSoapNote({ is_final: true, text: "Plan: five" }));
    const soap_note = { text: "Plan: two", reason: "The dose was misheard" };
    const sent = clinic.client.through(atRate(rate * KIB)).put(`${visit.path}/soap_note`, { soap_note });
    expect((await sent).status).toBe(status);
  });

  it("takes memory from its organization, never from others, until it is answered", async () => {
    const [clinic, other] = [await anOrganization(), await anOrganization()];
    const path = `/organization_users/${clinic.admin.id}/calls/1/soap_note`;
    const soap_note = { text: "Plan: two", reason: "The dose was misheard" };
    const { promise, resolve: finish } = Promise.withResolvers<void>();
    let begun = 0;
    const worker = throughWorkerWith({});
    const unfinished = slowly(() => {
      begun++;
      return promise;
    }, worker);
    const quarter = MAX_BODIES_SIZE / 4 / CORRECTION_BODY_LIMIT;
    const correct = () => clinic.client.through(unfinished).put(path, { soap_note });
    const held = Array.from({ length: quarter }, correct);
    await vi.waitFor(() => expect(begun).toBe(quarter), { interval: 5 });
    const refused = await clinic.client.through(worker).post("/waiting_rooms", make);
    expectRefusal(
      refused,
      503,
      "Too many other requests with large bodies are not finished: try again, with a Content-Length",
    );
    expect(refused.headers.get("Retry-After")).toBe("2");
    await given(other.client.through(worker).post("/waiting_rooms", make));
    finish();
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual(Array(quarter).fill(404));
    await given(clinic.client.through(worker).post("/waiting_rooms", make));
  });

  it.each([
    ["external", { "X-Client-ID": "made-up", "X-Client-Secret": "made-up" }, "/waiting_rooms"],
    ["platform", { Authorization: "Bearer made-up" }, "/organizations"],
    ["livekit", { Authorization: "made-up" }, "/webhook"],
  ])("is refused with wrong credentials before its body is read: %s API", async (name, headers, path) => {
    expect(await statusUnread(`/api/${name}${path}`, headers)).toBe(401);
  });

  it("is refused before its body is read if LiveKit's API does not have its path", async () => {
    expect(await statusUnread("/api/livekit/other", { Authorization: await signatureOf("") })).toBe(404);
  });

  /** The status of a request whose body must not be read. */
  async function statusUnread(path: string, headers: Record<string, string>) {
    let isRead = false;
    async function* pieces() {
      isRead = true;
      yield new Uint8Array();
    }
    const body = bodyOf(pieces());
    const request = new Request(`https://service.test${path}`, { method: "POST", headers, body });
    const { status } = await throughWorkerWith({})(request);
    expect(isRead).toBe(false);
    return status;
  }
});
