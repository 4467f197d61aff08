import { EgressInfo, EgressStatus, FileInfo, ListEgressResponse } from "@livekit/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toEgressEvent } from "../../../src/livekit/egress_info.ts";
import { egressInfo, egressList } from "../../../src/livekit/protojson.ts";
import { reportEgressBody } from "../../../src/results/egresses/egresses.schemas.ts";

const ENDED_AT = Date.parse("2026-01-31T09:45:00.123Z");
const NANOSECONDS = BigInt(ENDED_AT) * 1_000_000n + 456_789n;

type Fields = ConstructorParameters<typeof EgressInfo>[0];

const anEgress = (fields: Fields = {}) => new EgressInfo({ egressId: "EG_1", roomId: "RM_1", ...fields });

const aFile = (fields: ConstructorParameters<typeof FileInfo>[0] = {}) =>
  new FileInfo({ filename: "clinic/1.mp4", location: "https://bucket.example/clinic/1.mp4", ...fields });

/** The report for an egress in a room of the clinic, with its first download. */
function reportOf(json: unknown) {
  const event = toEgressEvent({ ...egressInfo().parse(json), roomName: "clinic--visit" }, ENDED_AT);
  const { reported_at, ...report } = event?.report ?? {};
  expect(reported_at).toBe(ENDED_AT);
  return { ...report, ...event?.downloads[0] };
}

/** The report for an EgressInfo as LiveKit writes it into an event. */
const reportOfEvent = (fields: Fields) => reportOf(anEgress(fields).toJson());

const ended = (fields: Fields = {}) =>
  reportOfEvent({ status: EgressStatus.EGRESS_COMPLETE, endedAt: NANOSECONDS, ...fields });

describe("toEgressEvent", () => {
  it.each([
    [EgressStatus.EGRESS_STARTING, "egress_starting"],
    [EgressStatus.EGRESS_ACTIVE, "egress_active"],
    [EgressStatus.EGRESS_ENDING, "egress_ending"],
    [EgressStatus.EGRESS_COMPLETE, "egress_ended"],
    [EgressStatus.EGRESS_FAILED, "egress_ended"],
    [EgressStatus.EGRESS_ABORTED, "egress_ended"],
    [EgressStatus.EGRESS_LIMIT_REACHED, "egress_ended"],
  ])("reports the status %s as %s", (status, reported) => {
    expect(reportOfEvent({ status })).toEqual({ status: reported });
  });

  it("reports the file and the end of a complete egress, to the millisecond", () => {
    const report = { status: "egress_ended", ended_at: ENDED_AT, storage_key: "clinic/1.mp4" };
    expect(ended({ fileResults: [aFile()] })).toEqual(report);
    // An older LiveKit version has another field.
    expect(ended({ result: { case: "file", value: aFile() } })).toEqual(report);
  });

  it("reports the first file that has a name", () => {
    const fileResults = [aFile({ filename: "" }), aFile({ filename: "clinic/2.mp4" }), aFile()];
    expect(ended({ fileResults })).toMatchObject({ storage_key: "clinic/2.mp4" });
  });

  const unstored = [aFile({ location: "" })];
  const error = "Start signal not received";

  it("reports no file before the end, although LiveKit has its name", () => {
    const active = reportOfEvent({ status: EgressStatus.EGRESS_ACTIVE, fileResults: unstored });
    expect(active).toEqual({ status: "egress_active" });
  });

  it("reports the file and the error of an egress that reached a limit", () => {
    const limited = ended({ status: EgressStatus.EGRESS_LIMIT_REACHED, error, fileResults: unstored });
    expect(limited).toMatchObject({ storage_key: "clinic/1.mp4", error });
  });

  it.each([EgressStatus.EGRESS_FAILED, EgressStatus.EGRESS_ABORTED])(
    "reports the file of a failed egress (%s) only if LiveKit stored it",
    (status) => {
      const failed = { status: "egress_ended", ended_at: ENDED_AT, error };
      expect(ended({ status, error, fileResults: unstored })).toEqual(failed);
      expect(ended({ status, error, fileResults: [aFile()] })).toMatchObject({ storage_key: "clinic/1.mp4" });
    },
  );

  const unusable = ["/clinic/1.mp4", "clinic//1.mp4", "clinic/../1.mp4", `clinic/${"x".repeat(1018)}`];
  const ofNoOrganization = ["1.mp4", "clinic", "clinic-2/1.mp4", "Clinic/1.mp4", "visits/clinic/1.mp4"];

  it.each([...unusable, ...ofNoOrganization])(
    "reports an error if the file cannot be a recording of the organization (%s)",
    (filename) => {
      const { storage_key, error } = ended({ fileResults: [aFile({ filename })] });
      expect(storage_key).toBeUndefined();
      expect(error).toBe(
        "The name of the file is not a path that begins with the organization's slug, so there is no download",
      );
    },
  );

  it("cuts off a very long error", () => {
    const error = "😀".repeat(3000);
    expect(ended({ error }).error).toBe("😀".repeat(2000));
  });

  it("treats an unknown status as ended if there is an end, and otherwise as starting", () => {
    for (const status of ["EGRESS_PAUSED", 7, "constructor"]) {
      const unknown = { egressId: "EG_1", status };
      expect(reportOf(unknown)).toEqual({ status: "egress_starting" });
      const hasEnded = reportOf({ ...unknown, endedAt: `${NANOSECONDS}` });
      expect(hasEnded).toEqual({ status: "egress_ended", ended_at: ENDED_AT });
    }
  });

  it("reads the JSON of LiveKit's API too: snake_case, with default values", () => {
    const times = { endedAt: NANOSECONDS, updatedAt: NANOSECONDS };
    const complete = { status: EgressStatus.EGRESS_COMPLETE, ...times, fileResults: [aFile()] };
    const list = new ListEgressResponse({ items: [anEgress(complete), anEgress()] });
    const written = list.toJson({ emitDefaultValues: true, useProtoFieldName: true }) as { items: unknown[] };
    const asEvents = (list.toJson() as { items: unknown[] }).items;
    expect(written.items[0]).toMatchObject({ egress_id: "EG_1", error: "", stream_results: [] });
    const parsed = (items: unknown[]) => items.map((item) => egressInfo().parse(item));
    expect(parsed(written.items)).toEqual(parsed(asEvents));
    expect(written.items.map(reportOf)).toEqual(asEvents.map(reportOf));
  });

  it("refuses an egress without an id", () => {
    for (const json of [{}, { egressId: "" }, { egressId: 7 }, [], null, "EG_1", 7])
      expect(egressInfo().safeParse(json).success).toBe(false);
  });

  it("needs little memory, even for very long lists", () => {
    const zeros = Array.from({ length: 500_000 }, () => 0);
    expect(egressList().safeParse({ items: zeros }).error?.issues.length).toBeLessThan(5);
    const before = process.memoryUsage().heapUsed;
    expect(reportOf({ egressId: "EG_1", fileResults: zeros })).toEqual({ status: "egress_starting" });
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(100_000_000);
  });

  it("always returns a report that the platform could send, whatever the fields hold", () => {
    const names = ["status", "error", "endedAt", "ended_at", "fileResults", "file", "roomId", "updatedAt"];
    const filename = fc.oneof(
      fc.string(),
      fc.string().map((name) => `clinic/${name}`),
    );
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 1 }),
      fc.string({ unit: fc.constantFrom("a", " ", "/", "\0", "\ud800", "😀") }),
      fc.constantFrom(...Object.keys(EgressStatus), `${NANOSECONDS}`, -1, 1e300, "9".repeat(19)),
      fc.array(fc.record({ filename, location: fc.string() })),
    );
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names), value), (fields) => {
        const { ended_at, ...report } = reportOf({ ...fields, egressId: "EG_1" });
        if (ended_at !== undefined) expect(new Date(ended_at as number).getTime()).toBe(ended_at);
        expect(reportEgressBody().safeParse({ egress: report }).error).toBeUndefined();
      }),
    );
  });
});
