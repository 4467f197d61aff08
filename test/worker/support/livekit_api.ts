import {
  EgressInfo,
  EgressStatus,
  ListEgressRequest,
  ListEgressResponse,
  ListRoomsResponse,
  StopEgressRequest,
} from "@livekit/protocol";
import { decodeProtectedHeader, jwtVerify } from "jose";
import { onTestFinished, vi } from "vitest";
import { aQueue, workerWith } from "./queue.ts";

const ADDRESS = "https://livekit.example";

export const KEY = {
  LIVEKIT_API_KEY: "livekit-key",
  LIVEKIT_API_SECRET: "livekit-secret-of-more-than-32-characters",
};

type Fields = ConstructorParameters<typeof EgressInfo>[0];

/** Responses and errors of LiveKit's API. Its JSON is Go's: snake_case, with default values. */
export const twirp = {
  list: (...items: EgressInfo[]) =>
    Response.json(
      new ListEgressResponse({ items }).toJson({ emitDefaultValues: true, useProtoFieldName: true }),
    ),
  rooms: (...sids: string[]) =>
    Response.json(
      new ListRoomsResponse({ rooms: sids.map((sid) => ({ sid, name: "room" })) }).toJson({
        emitDefaultValues: true,
        useProtoFieldName: true,
      }),
    ),
  error: (status: number, code: string, msg = "") => Response.json({ code, msg }, { status }),
};

/**
 * A LiveKit server that replaces the network until the test ends. `egress` sets an egress that it knows. `answer` replaces
 * its answers about egresses until it is set to undefined.
 */
export function aLiveKit() {
  const known = new Map<string, EgressInfo>();
  const livekit = {
    /** The egress ids that it was asked about. */
    asked: [] as string[],
    /** The egress ids that it was asked to stop. */
    stopped: [] as string[],
    /** The sids of the open rooms. */
    rooms: [] as string[],
    /** How often it was asked for the open rooms. */
    roomsAsked: 0,
    /** The requests to stop an egress or to list rooms. */
    requests: [] as Request[],
    /** Replaces the answers to `requests`. */
    otherAnswer: undefined as (() => Response | Promise<Response>) | undefined,
    /** The highest number of requests at the same time. */
    busiest: 0,
    answer: undefined as ((request: Request, egress_id: string) => Response | Promise<Response>) | undefined,
    egress(egressId: string, status: EgressStatus, fields: Fields = {}) {
      known.set(egressId, new EgressInfo({ egressId, status, ...fields }));
    },
    forget: (egressId: string) => known.delete(egressId),
    /** The answer about an egress, unless `answer` replaces it. */
    own(egress_id: string) {
      const info = known.get(egress_id);
      return info ? twirp.list(info) : twirp.error(404, "not_found", "egress does not exist");
    },
    /** A Worker that knows the server's address. */
    service: (bindings: object = {}) =>
      workerWith({ LIVEKIT_URL: ADDRESS, BULK_INVITES: aQueue().binding, ...bindings }),
    /** Runs the cron of this Worker, which also has the API key. */
    runCron: (bindings: object = {}) => livekit.service({ ...KEY, ...bindings }).runCron(),
    async stop(request: Request) {
      livekit.requests.push(request.clone());
      const { egressId } = StopEgressRequest.fromJson(await request.json());
      livekit.stopped.push(egressId);
      if (livekit.otherAnswer) return livekit.otherAnswer();
      const info = known.get(egressId);
      if (!info) return twirp.error(404, "not_found", "egress does not exist");
      info.status = EgressStatus.EGRESS_ENDING;
      return Response.json(info.toJson({ useProtoFieldName: true }));
    },
    listRooms(request: Request) {
      livekit.requests.push(request.clone());
      livekit.roomsAsked++;
      return livekit.otherAnswer?.() ?? twirp.rooms(...livekit.rooms);
    },
  };
  let open = 0;
  const fetched = vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    const request = new Request(input, init);
    livekit.busiest = Math.max(livekit.busiest, ++open);
    try {
      if (request.url.endsWith("/StopEgress")) return await livekit.stop(request);
      if (request.url.endsWith("/ListRooms")) return await livekit.listRooms(request);
      const { egressId } = ListEgressRequest.fromJson(await request.clone().json());
      livekit.asked.push(egressId);
      return await (livekit.answer?.(request, egressId) ?? livekit.own(egressId));
    } finally {
      open--;
    }
  });
  onTestFinished(() => fetched.mockRestore());
  return livekit;
}

/** The verified header and claims of the token in a request. */
export async function claimsOf({ headers }: Request) {
  const token = headers.get("Authorization")?.replace(/^Bearer /, "") ?? "";
  const secret = new TextEncoder().encode(KEY.LIVEKIT_API_SECRET);
  const { payload } = await jwtVerify(token, secret, {
    issuer: KEY.LIVEKIT_API_KEY,
    requiredClaims: ["exp"],
    currentDate: new Date(),
  });
  return { ...decodeProtectedHeader(token), ...payload };
}
