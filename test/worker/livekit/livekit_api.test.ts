import { env } from "cloudflare:workers";
import { generateKeyPair, SignJWT, UnsecuredJWT } from "jose";
import { describe, expect, it, vi } from "vitest";
import { api } from "../support/api.ts";
import { expectRefusal } from "../support/expectations.ts";
import {
  aLiveKitRoom,
  aLiveKitServer,
  anEvent,
  delivered,
  digestOf,
  LIVEKIT_KEY,
  liveKit,
  signatureOf,
} from "../support/livekit.ts";
import { anOrganization, type Organization } from "../support/organization.ts";
import { fromNow, travelTo } from "../support/time.ts";
import { changingNothing } from "../support/unchanged.ts";
import { throughWorkerWith } from "../support/worker.ts";

const INVALID = "Invalid LiveKit signature";
const LIMIT = 256 * 1024;

const webhook = { "Content-Type": "application/webhook+json" };

const withHeader = (Authorization: string) => api("/api/livekit", { Authorization });

const postAs = (Authorization: string, body: string, headers = {}) =>
  withHeader(Authorization).send("POST", "/webhook", body, { ...webhook, ...headers });

async function tokenFor(
  body: string,
  claims: object = {},
  { alg = "HS256", secret = LIVEKIT_KEY.secret } = {},
) {
  return new SignJWT({ iss: LIVEKIT_KEY.key, exp: inSeconds(300), sha256: await digestOf(body), ...claims })
    .setProtectedHeader({ alg })
    .sign(new TextEncoder().encode(secret));
}

const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;

/** The lines that the service logs for an event, without the request's own line. */
async function linesOf(event: string): Promise<Record<string, unknown>[]> {
  const lines: string[] = [];
  const spy = vi.spyOn(console, "log").mockImplementation((line: string) => lines.push(line));
  await delivered([event]).finally(() => spy.mockRestore());
  return lines.map((line) => JSON.parse(line)).filter((line) => line.event !== "request");
}

const metadataOf = async (clinic: Organization) => ({
  waiting_room_slug: (await clinic.addRoom()).slug as string,
  organization_user_id: clinic.admin.id as number,
});

type Metadata = Awaited<ReturnType<typeof metadataOf>>;

const [ROOM, USER] = ["metadata at fault: waiting_room_slug", "metadata at fault: organization_user_id"];

const NOT_USED = { event: "livekit_event_not_used", request_id: expect.any(String) };

describe("POST /api/livekit/webhook", () => {
  it("refuses every invalid signature in the same way, and changes nothing", async () => {
    const room = await aLiveKitRoom(await anOrganization());
    const event = room.started();
    const { privateKey } = await generateKeyPair("RS256");
    const claims = { iss: LIVEKIT_KEY.key, exp: inSeconds(300), sha256: await digestOf(event) };
    const right = await signatureOf(event);
    const [header = "", payload = "", signature = ""] = right.split(".");
    const faults: Record<string, string> = {
      nothing: "",
      "no token": "made-up",
      "another scheme": `Bearer ${right}`,
      "another secret": await signatureOf(event, { ...LIVEKIT_KEY, secret: "x".repeat(32) }),
      "another key": await signatureOf(event, { ...LIVEKIT_KEY, key: "somebody" }),
      "no key": await tokenFor(event, { iss: undefined }),
      "the signature of another body": await signatureOf(room.finished(10)),
      "a digest in hexadecimal": await tokenFor(event, { sha256: "00".repeat(32) }),
      "a digest without padding": await tokenFor(event, { sha256: claims.sha256.replace("=", "") }),
      "no digest": await tokenFor(event, { sha256: undefined }),
      "a digest that is no text": await tokenFor(event, { sha256: [claims.sha256] }),
      "no expiry": await tokenFor(event, { exp: undefined }),
      "an expiry in the past": await tokenFor(event, { exp: inSeconds(-61) }),
      "a start in the future": await tokenFor(event, { nbf: inSeconds(62) }),
      HS384: await tokenFor(event, {}, { alg: "HS384" }),
      HS512: await tokenFor(event, {}, { alg: "HS512" }),
      "no algorithm": new UnsecuredJWT(claims).encode(),
      "a key pair": await new SignJWT(claims).setProtectedHeader({ alg: "RS256" }).sign(privateKey),
      "no signature": `${header}.${payload}.`,
      "a shorter signature": `${header}.${payload}.${signature.slice(0, -2)}`,
      "another payload": `${header}.${btoa(JSON.stringify({ ...claims, x: 1 })).replace(/=+$/, "")}.${signature}`,
    };
    await changingNothing(async () => {
      // Back to the present, from which the claims count: `changingNothing` works an hour ahead.
      travelTo(fromNow(-60));
      for (const [fault, token] of Object.entries(faults))
        expect({ fault, ...(await postAs(token, event)) }).toMatchObject({
          fault,
          status: 401,
          body: { error: INVALID },
        });
    });
    expect((await postAs(right, event)).status).toBe(200);
  });

  it("tolerates clocks that differ by up to a minute", async () => {
    const event = anEvent("room_started");
    expect((await postAs(await tokenFor(event, { exp: inSeconds(-58) }), event)).status).toBe(200);
    expect((await postAs(await tokenFor(event, { nbf: inSeconds(58) }), event)).status).toBe(200);
  });

  it("hashes the bytes as they were sent, and accepts them again while their token is valid, without another effect", async () => {
    const clinic = await anOrganization();
    const room = await aLiveKitRoom(clinic);
    const event = ` ${room.joined("rita", 1).replaceAll('":', '":  ')}\n`;
    const token = await signatureOf(event);
    expect((await postAs(token, event)).status).toBe(200);
    await changingNothing(async () => {
      travelTo(fromNow(-56));
      expect((await postAs(token, event)).status).toBe(200);
      travelTo(fromNow(4));
      expectRefusal(await postAs(token, event), 401, INVALID);
    });
  });

  it("accepts two keys during a rotation", async () => {
    const previous = { key: "earlier-key", secret: "earlier-livekit-secret-of-32-characters" };
    const bindings = { LIVEKIT_API_KEY_PREVIOUS: previous.key, LIVEKIT_API_SECRET_PREVIOUS: previous.secret };
    const fetcher = throughWorkerWith(bindings);
    const event = anEvent("room_started");
    for (const key of [LIVEKIT_KEY, previous])
      expect((await aLiveKitServer({ key, fetcher }).send(event)).status).toBe(200);
    const mixed = { key: LIVEKIT_KEY.key, secret: previous.secret };
    expectRefusal(await aLiveKitServer({ key: mixed, fetcher }).send(event), 401, INVALID);
    expectRefusal(await aLiveKitServer({ key: previous }).send(event), 401, INVALID);
  });

  it("refuses everything while no key is set", async () => {
    const { LIVEKIT_API_KEY: _, LIVEKIT_API_SECRET: __, ...others } = env;
    const fetcher = throughWorkerWith({ ...others, LIVEKIT_API_KEY: "", LIVEKIT_API_SECRET: "" });
    expectRefusal(await aLiveKitServer({ fetcher }).send(anEvent("room_started")), 401, INVALID);
    const empty = { key: "", secret: "x" };
    expectRefusal(await aLiveKitServer({ key: empty, fetcher }).send(anEvent("room_started")), 401, INVALID);
  });

  it("checks the signature before anything else", async () => {
    const stranger = withHeader("");
    expectRefusal(await stranger.send("GET", "/nowhere"), 401, INVALID);
    expectRefusal(await stranger.send("POST", "/webhook", "x".repeat(LIMIT + 1)), 401, INVALID);
    expectRefusal(
      await stranger.send("POST", "/webhook", "{", { "Content-Type": "text/plain" }),
      401,
      INVALID,
    );
  });

  it("is the only path and method of the LiveKit API", async () => {
    const signed = withHeader(await signatureOf(""));
    expectRefusal(await signed.send("GET", "/webhook"), 405, /supports POST\.$/);
    expectRefusal(await signed.send("GET", "/nowhere"), 404, "Not found");
    expectRefusal(await signed.send("POST", "/*", ""), 404, "Not found");
  });

  it("accepts 256 KiB of JSON, and refuses more", async () => {
    for (const body of ["{", ""])
      expectRefusal(await liveKit.send(body), 400, "Request body is not valid JSON");
    const event = anEvent("room_started");
    expect((await liveKit.send(event.padEnd(LIMIT))).status).toBe(200);
    expectRefusal(
      await liveKit.send(event.padEnd(LIMIT + 1)),
      413,
      `The request body is larger than ${LIMIT.toLocaleString("en-US")} bytes`,
    );
  });

  it("accepts any content type", async () => {
    for (const type of ["application/webhook+json; charset=utf-8", "application/json", "text/plain"])
      expect((await liveKit.send("{}", { "Content-Type": type })).status).toBe(200);
  });

  const UNUSABLE: Record<string, string> = {
    "no object": "[]",
    "an empty object": "{}",
    "an unknown event": anEvent("moon_landed"),
    "a room without metadata": anEvent("room_started", { room: { sid: "RM_1", name: "clinic--x" } as never }),
    "an egress without an id": anEvent("egress_ended", { egressInfo: { roomId: "RM_1" } as never }),
    "an egress event without an egress": anEvent("egress_ended"),
    "fields of other types":
      '{"event":7,"room":[],"participant":"x","egressInfo":3,"createdAt":{"toString":0}}',
    "a prototype":
      '{"__proto__":{"event":"room_started"},"event":"room_started","room":{"sid":"RM_1","name":"clinic--x","__proto__":1}}',
  };

  it.each(Object.entries(UNUSABLE))("accepts %s, and changes nothing", async (_, event) => {
    await changingNothing(() => delivered([event]));
  });

  it.each<[string, (theirs: Metadata, own: Metadata) => object, string]>([
    ["no slug", () => ({ waiting_room_slug: undefined }), ROOM],
    ["a slug without an organization", () => ({ waiting_room_slug: "cardiology" }), ROOM],
    ["a room of another organization", ({ waiting_room_slug }) => ({ waiting_room_slug }), ROOM],
    ["no user", () => ({ organization_user_id: undefined }), USER],
    ["a user that is not a number", () => ({ organization_user_id: "x" }), USER],
    ["a user of another organization", ({ organization_user_id }) => ({ organization_user_id }), USER],
    ["an unknown room", (_, own) => ({ waiting_room_slug: `${own.waiting_room_slug}-unknown` }), ROOM],
    [
      "neither",
      () => ({ waiting_room_slug: 7, organization_user_id: null }),
      `${ROOM}, organization_user_id`,
    ],
  ])("accepts a room whose metadata has %s, changes nothing, and logs why", async (_, wrong, reason) => {
    const clinic = await anOrganization();
    const [theirs, ours] = [await metadataOf(await anOrganization()), await metadataOf(clinic)];
    const metadata = JSON.stringify({ ...ours, ...wrong(theirs, ours) });
    const room = await aLiveKitRoom(clinic, { metadata });
    for (const each of [room.joined("rita", 0), room.left("rita", 10, 0)])
      expect(await changingNothing(() => linesOf(each))).toMatchObject([{ ...NOT_USED, reason }]);
  });

  it.each([
    ["the slug of no organization", () => "nowhere--visit"],
    ["a slug and nothing after it", (slug: string) => `${slug}--`],
    ["a slug and one hyphen", (slug: string) => `${slug}-visit`],
    ["no slug", () => "visit"],
    ["nothing", () => ""],
  ])(
    "accepts the events of a room whose name begins with %s, changes nothing, and logs it",
    async (_, nameFor) => {
      const clinic = await anOrganization();
      const metadata = JSON.stringify({ waiting_room_slug: "nowhere--cardiology", organization_user_id: 1 });
      const room = await aLiveKitRoom(clinic, { name: nameFor(clinic.slug), metadata });
      const events = [room.joined("rita", 1), room.finished(10), room.recorded("EG_1", 10)];
      for (const event of events)
        expect(await changingNothing(() => linesOf(event))).toMatchObject([
          { ...NOT_USED, reason: "no organization" },
        ]);
    },
  );
});

describe("The log line of a LiveKit event that cannot be used", () => {
  it("has the ids of the event and of the room, and the reason, without any text from LiveKit", async () => {
    const clinic = await anOrganization();
    const waiting_room_slug = `${clinic.slug}--Rita Recipient`;
    const metadata = JSON.stringify({ waiting_room_slug, organization_user_id: clinic.admin.id });
    const room = await aLiveKitRoom(clinic, { metadata, name: `${clinic.slug}--rita` });
    const event = room.joined("rita@example.com", 1, { name: "Rita Recipient" });
    const { id } = JSON.parse(event);
    expect(await linesOf(event)).toEqual([
      {
        ...NOT_USED,
        livekit_event: "participant_joined",
        event_id: id,
        room_sid: room.sid,
        reason: ROOM,
      },
    ]);
  });

  it("leaves out values that do not look like ids", async () => {
    const room = { sid: "Rita's room", name: "clinic--rita" } as never;
    const participant = { sid: "PA_rita", identity: "rita" } as never;
    const event = anEvent("participant_joined", { id: "Rita's event", room, participant });
    expect(await linesOf(event)).toEqual([
      { ...NOT_USED, livekit_event: "participant_joined", reason: "no organization" },
    ]);
  });
});
