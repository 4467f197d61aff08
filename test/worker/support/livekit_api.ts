import { EgressInfo, type EgressStatus, ListEgressRequest, ListEgressResponse } from "@livekit/protocol";
import { decodeProtectedHeader, jwtVerify } from "jose";
import { onTestFinished, vi } from "vitest";
import { aQueue, workerWith } from "./queue.ts";

const ADDRESS = "https://livekit.example";

export const KEY = {
  LIVEKIT_API_KEY: "livekit-key",
  LIVEKIT_API_SECRET: "livekit-secret-of-more-than-32-characters",
};

type Fields = ConstructorParameters<typeof EgressInfo>[0];

/** A response of LiveKit's API, with its errors. Its JSON is that of Go: snake_case, with default values. */
export const twirp = {
  list: (...items: EgressInfo[]) =>
    Response.json(
      new ListEgressResponse({ items }).toJson({ emitDefaultValues: true, useProtoFieldName: true }),
    ),
  error: (status: number, code: string, msg = "") => Response.json({ code, msg }, { status }),
};

/**
 * A LiveKit server that the cron asks instead of the network, until the test ends. `egress` says what it knows;
 * `answer` replaces its responses until it is undefined again.
 */
export function aLiveKit() {
  const known = new Map<string, EgressInfo>();
  const livekit = {
    /** The ids that it was asked about. */
    asked: [] as string[],
    /** The most requests at the same time. */
    busiest: 0,
    answer: undefined as ((request: Request, egress_id: string) => Response | Promise<Response>) | undefined,
    egress(egressId: string, status: EgressStatus, fields: Fields = {}) {
      known.set(egressId, new EgressInfo({ egressId, status, ...fields }));
    },
    /** What it says in its own right. */
    own(egress_id: string) {
      const info = known.get(egress_id);
      return info ? twirp.list(info) : twirp.error(404, "not_found", "egress does not exist");
    },
    /** A run of the cron of a service that knows the server's address. */
    runCron: (bindings: object = {}) =>
      workerWith({ ...KEY, LIVEKIT_URL: ADDRESS, BULK_INVITES: aQueue().binding, ...bindings }).runCron(),
  };
  let open = 0;
  const fetched = vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    const request = new Request(input, init);
    livekit.busiest = Math.max(livekit.busiest, ++open);
    try {
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

/** The claims of the token with which the service asks. */
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
