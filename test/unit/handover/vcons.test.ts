import { describe, expect, it } from "vitest";
import * as z from "zod";
import { publishedKeys } from "../../../src/audit/access_log_seals/access_log_seals.keys.ts";
import { VconVerificationError, verifyVcon } from "../../../src/client/vcons.ts";
import { signVcon, vconOf } from "../../../src/handover/vcons/vcons.ts";
import { ADDRESS, aRecord, CALLS, PAULA, RITA, STARTED_AT } from "../support/call_records.ts";
import { aKey } from "../support/sealed_week.ts";

const date = z.iso.datetime();
const index = z.int().nonnegative();
const mediatype = z.string().regex(/^\w+\/\w+$/);
const inline = z.union([
  z.object({ encoding: z.literal("none"), body: z.string() }).loose(),
  z.object({ encoding: z.literal("json"), body: z.json() }).loose(),
]);
const history = z.strictObject({ party: index, time: date, event: z.enum(["join", "drop"]) });
const dialog = { start: date, duration: z.number().nonnegative().optional(), parties: z.array(index) };
const call = { ...dialog, party_history: z.array(history).optional(), call_id: index };

/** The part of draft-ietf-vcon-vcon-core-04 that the service uses, with its own parameters. */
const vconSchema = z.strictObject({
  vcon: z.literal("0.4.0"),
  uuid: z.uuid({ version: "v8" }),
  redacted: z.strictObject({ uuid: z.uuid({ version: "v8" }), type: z.string() }).optional(),
  extensions: z.tuple([z.literal("organization_video_visit")]),
  created_at: date,
  updated_at: date,
  parties: z.array(
    z.strictObject({
      type: z.literal("person"),
      name: z.string().optional(),
      role: z.enum(["provider", "recipient"]),
      external_reference: z.string().optional(),
      user_id: index.optional(),
    }),
  ),
  dialog: z
    .array(
      z.discriminatedUnion("type", [
        z.strictObject({ type: z.literal("recording"), ...dialog, recording_set: index, path: z.string() }),
        z.strictObject({ type: z.literal("recording-set"), ...call, recordings: z.array(index) }),
        z.strictObject({ type: z.literal("incomplete"), ...call, disposition: z.literal("failed") }),
      ]),
    )
    .min(1),
  analysis: z
    .array(
      inline.and(
        z.looseObject({
          type: z.enum(["transcript", "summary", "report"]),
          dialog: z.literal(0),
          mediatype,
          vendor: z.string(),
        }),
      ),
    )
    .optional(),
  attachments: z
    .array(
      inline.and(
        z.looseObject({ purpose: z.string(), start: date, party: index, dialog: z.literal(0), mediatype }),
      ),
    )
    .optional(),
});

describe("A vCon", () => {
  it.each(Object.entries(CALLS))("of a call %s has the form of the draft", async (_, record) => {
    const vcon = JSON.parse(JSON.stringify(await vconOf(record)));
    expect(vconSchema.parse(vcon)).toEqual(vcon);
    const [call] = vcon.dialog;
    for (const each of call.recordings ?? [])
      expect(vcon.dialog[each]).toMatchObject({ type: "recording", recording_set: 0 });
    for (const { party } of vcon.attachments ?? []) expect(vcon.parties[party]).toBeDefined();
  });

  it("has a UUID that follows from the call and the service's address", async () => {
    const uuidOf = async (call: object, address = ADDRESS) => (await vconOf(aRecord({ call, address }))).uuid;
    const uuid = await uuidOf({});
    expect(uuid.replaceAll("-", "").slice(0, 12)).toBe(STARTED_AT.toString(16).padStart(12, "0"));
    expect(uuid.slice(14, 18)).toBe("812c");
    expect(await uuidOf({ started_at: 0, ended_at: null })).toBe(uuid);
    expect(await uuidOf({ id: 301 })).not.toBe(uuid);
    expect(await uuidOf({ created_at: STARTED_AT + 1 })).not.toBe(uuid);
    expect(await uuidOf({}, "https://other.example.com")).not.toBe(uuid);
  });

  it("for one person names nobody else, and keeps everybody's lines", async () => {
    const { complete = aRecord() } = CALLS;
    const whole = await vconOf(complete);
    const vcon = await vconOf(complete, [RITA.person_id]);
    expect(vconSchema.parse(JSON.parse(JSON.stringify(vcon)))).toMatchObject({
      redacted: { uuid: whole.uuid, type: "other_parties" },
      parties: [
        { type: "person", role: "provider" },
        { name: RITA.display_name, external_reference: RITA.external_reference },
      ],
      attachments: [{ party: 1 }],
    });
    expect(vcon.uuid).not.toBe(whole.uuid);
    expect(vcon.parties[0]).toEqual({ type: "person", role: "provider" });
    expect(JSON.stringify(vcon)).not.toContain(PAULA.display_name);
    expect(vcon.analysis).toEqual(whole.analysis);
  });
});

describe("verifyVcon", () => {
  const aSignedVcon = async () => {
    const key = aKey();
    const vcon = await vconOf(aRecord());
    const keys = await publishedKeys({ AUDIT_SIGNING_KEY: key, AUDIT_PUBLIC_KEYS: [] } as never);
    return { vcon, keys, key, jws: await signVcon(key, vcon, STARTED_AT) };
  };

  it("returns the vCon as it was signed", async () => {
    const { vcon, keys, jws } = await aSignedVcon();
    const signed = { ...vcon, updated_at: new Date(STARTED_AT).toISOString() };
    expect(await verifyVcon(jws as never, { keys })).toEqual(JSON.parse(JSON.stringify(signed)));
  });

  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

  it("throws for anything else, and for a key that is not published", async () => {
    const { keys, jws } = await aSignedVcon();
    const other = await aSignedVcon();
    const [signature] = jws.signatures;
    for (const [what, text, published] of [
      ["a changed payload", { ...jws, payload: encoded({ uuid: signature?.header?.uuid }) }, keys],
      ["another UUID", { ...jws, signatures: [{ ...signature, header: { uuid: "x" } }] }, keys],
      [
        "another header",
        { ...jws, signatures: [{ ...signature, protected: encoded({ alg: "none" }) }] },
        keys,
      ],
      ["no signature", { ...jws, signatures: [] }, keys],
      ["two signatures", { ...jws, signatures: [signature, signature] }, keys],
      ["an unsigned vCon", { vcon: "0.4.0", parties: [] }, keys],
      ["nothing", null, keys],
      ["another key", jws, other.keys],
      ["no key", jws, []],
    ] as const)
      await expect(verifyVcon(text as never, { keys: published }), what).rejects.toThrow(
        VconVerificationError,
      );
  });
});
