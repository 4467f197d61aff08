import {
  DisconnectReason,
  EgressInfo,
  EgressStatus,
  FileInfo,
  ParticipantInfo,
  ParticipantInfo_Kind,
  Room,
  SegmentsInfo,
  WebhookEvent,
} from "@livekit/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { egressInfo, liveKitEvent } from "../../../src/livekit/protojson.ts";

const NANOSECONDS = 1_769_851_860_123_456_789n;

const event = new WebhookEvent({
  event: "egress_ended",
  id: "EV_1",
  createdAt: 1_769_851_800n,
  room: new Room({
    sid: "RM_1",
    name: "clinic--1",
    metadata: '{"waiting_room_slug":"clinic--cardiology"}',
    creationTime: 1_769_851_800n,
    creationTimeMs: 1_769_851_800_412n,
  }),
  participant: new ParticipantInfo({
    sid: "PA_1",
    identity: "rita",
    name: "Rita",
    kind: ParticipantInfo_Kind.SIP,
    joinedAt: 1_769_851_800n,
    joinedAtMs: 1_769_851_800_412n,
    disconnectReason: DisconnectReason.USER_REJECTED,
    permission: { recorder: true },
    attributes: { recording_consent: "false", user_id: "7", other_key: "x" },
  }),
  egressInfo: new EgressInfo({
    egressId: "EG_1",
    roomId: "RM_1",
    roomName: "clinic--1",
    status: EgressStatus.EGRESS_COMPLETE,
    startedAt: NANOSECONDS,
    endedAt: NANOSECONDS,
    manifestLocation: "clinic/1.json",
    backupStorageUsed: true,
    fileResults: [
      new FileInfo({
        filename: "clinic/1.mp4",
        startedAt: NANOSECONDS,
        duration: 61_500_000_000n,
        size: 12n,
      }),
    ],
    segmentResults: [
      new SegmentsInfo({ playlistName: "clinic/1.m3u8", livePlaylistName: "clinic/live.m3u8" }),
    ],
  }),
});

const read = (json: unknown) => liveKitEvent().parse(json);

type Rewrite = (name: string, value: unknown) => [string, unknown];

function rewritten(json: unknown, rewrite: Rewrite): unknown {
  if (Array.isArray(json)) return json.map((each) => rewritten(each, rewrite));
  if (typeof json !== "object" || json === null) return json;
  return Object.fromEntries(
    Object.entries(json).map(([name, value]) =>
      rewrite(name, name === "attributes" ? value : rewritten(value, rewrite)),
    ),
  );
}

const toSnakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

describe("liveKitEvent", () => {
  const json = event.toJson();

  it("reads an event as LiveKit's package writes it", () => {
    expect(read(json)).toMatchObject({
      event: "egress_ended",
      createdAt: 1_769_851_800_000,
      room: { sid: "RM_1", name: "clinic--1", creationTimeMs: 1_769_851_800_412 },
      participant: {
        kind: "SIP",
        joinedAtMs: 1_769_851_800_412,
        disconnectReason: "USER_REJECTED",
        permission: { recorder: true },
        attributes: { recording_consent: "false", user_id: "7", role: "" },
      },
      egressInfo: {
        status: "EGRESS_COMPLETE",
        endedAt: 1_769_851_860_123,
        fileResults: [{ filename: "clinic/1.mp4", startedAt: 1_769_851_860_123, duration: 61_500, size: 12 }],
        segmentResults: [{ playlistName: "clinic/1.m3u8", livePlaylistName: "clinic/live.m3u8" }],
        manifestLocation: "clinic/1.json",
        backupStorageUsed: true,
      },
    });
  });

  it.each<[string, Parameters<WebhookEvent["toJson"]>[0]]>([
    ["snake_case", { useProtoFieldName: true }],
    ["enums by number", { enumAsInteger: true }],
    ["default values", { emitDefaultValues: true }],
  ])("reads the same event with %s", (_, options) => {
    expect(read(event.toJson(options))).toEqual(read(json));
  });

  it("reads the same event with int64 as numbers, unknown fields, and names in either case", () => {
    fc.assert(
      fc.property(fc.infiniteStream(fc.boolean()), (choices) => {
        const chosen = () => choices.next().value;
        const other = rewritten(json, (name, value) => [
          chosen() ? toSnakeCase(name) : name,
          typeof value === "string" && /^\d+$/.test(value) && chosen() ? Number(value) : value,
        ]);
        expect(read({ ...(other as object), added_later: { deep: [1] } })).toEqual(read(json));
      }),
    );
  });

  it.each<[unknown, number]>([
    [12, 12],
    ["12", 12],
    [`${Number.MAX_SAFE_INTEGER}`, Number.MAX_SAFE_INTEGER],
    ...["1.5", 1.5, "1e3", "0x10", " 1", "", "-1", `${2n ** 53n}`, `${2n ** 63n}`, true, [1]].map(
      (said): [unknown, number] => [said, 0],
    ),
  ])("reads the int64 %j as %j: one that is not an integer is left out", (size, read) => {
    expect(egressInfo().parse({ egressId: "EG_1", file: { size } }).file?.size).toBe(read);
  });

  it("reads null as the default value", () => {
    const finished = { event: "room_finished" };
    expect(read({ ...finished, id: null, createdAt: null })).toEqual(read(finished));
  });

  const consentOf = (participant: object) => read({ participant }).participant?.attributes.recording_consent;

  it("does not rename the keys of attributes", () => {
    expect(consentOf({ attributes: { recordingConsent: "true" } })).toBe("");
  });

  it.each([
    [false, "false"],
    [0, "0"],
    [{ no: 1 }, '{"no":1}'],
    [null, ""],
  ])("reads the attribute %j as the text %j", (value, text) => {
    expect(consentOf({ attributes: { recording_consent: value, role: 7 } })).toBe(text);
  });

  it("keeps a refusal of consent, whatever the other fields are", () => {
    const fields = ParticipantInfo.fields.list().map(({ jsonName }) => jsonName);
    fc.assert(
      fc.property(fc.subarray(fields), fc.jsonValue(), (names, value) => {
        const others = Object.fromEntries(names.map((each) => [each, value]));
        const attributes = { role: value, recording_consent: "false" };
        expect(consentOf({ ...others, attributes })).toBe("false");
      }),
    );
  });

  it("accepts any fields, and returns no time in the future", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), fc.jsonValue(), (createdAt, joinedAt, room) => {
        const { success, data } = liveKitEvent().safeParse({ createdAt, room, participant: { joinedAt } });
        expect(success).toBe(true);
        for (const time of [data?.createdAt ?? 0, data?.participant?.joinedAt ?? 0]) {
          expect(Number.isInteger(time)).toBe(true);
          expect(time).toBeLessThanOrEqual(Date.now());
        }
      }),
    );
  });
});

describe("LiveKit's enums", () => {
  const numbers = (names: object) => Object.values(names).filter((each) => typeof each === "number");

  it.each(numbers(ParticipantInfo_Kind))("include the kind %d by number and by name", (kind) => {
    expect(read({ participant: { kind } }).participant?.kind).toBe(ParticipantInfo_Kind[kind]);
  });

  it.each(numbers(EgressStatus))("include the status %d by number and by name", (status) => {
    expect(egressInfo().parse({ egressId: "EG_1", status }).status).toBe(EgressStatus[status]);
  });

  it.each(numbers(DisconnectReason))("include the reason %d by number, if the service uses it", (reason) => {
    const read_reason = read({ participant: { disconnectReason: reason } }).participant?.disconnectReason;
    expect([DisconnectReason[reason], "unknown"]).toContain(read_reason);
  });
});
