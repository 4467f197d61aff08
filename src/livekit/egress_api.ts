import { SignJWT } from "jose";
import * as z from "zod";
import { jsonOrUndefined } from "../bytes/json.ts";
import { textWithin } from "../http/bounded_text.ts";
import { lazily } from "../memory.ts";
import type { Settings } from "../settings.ts";
import { LIVEKIT_ANSWER_LIMIT, LIVEKIT_TIMEOUT, LIVEKIT_TOKEN_LIFETIME } from "../tuning.ts";
import { type EgressInfo, egressInfo, egressList, roomList } from "./protojson.ts";

type LiveKitFault = "unreachable" | "timeout" | "not_ok" | "too_large" | "malformed";

export class LiveKitUnavailable extends Error {
  override name = "LiveKitUnavailable";
  readonly fault: LiveKitFault;
  readonly status: number | undefined;

  constructor(fault: LiveKitFault, { status, ...options }: ErrorOptions & { status?: number } = {}) {
    super(fault, options);
    this.fault = fault;
    this.status = status;
  }
}

/**
 * LiveKit's API (Twirp: JSON over POST), if its address is configured. Usable for a minute or two, until its token expires. Each
 * method throws LiveKitUnavailable if LiveKit gives no usable answer.
 */
export function connectLiveKit(settings: Settings) {
  const { LIVEKIT_URL, LIVEKIT_API_KEY, LIVEKIT_API_SECRET } = settings;
  if (!LIVEKIT_URL || !LIVEKIT_API_KEY) return undefined;

  const tokenFor = async (grant: "roomRecord" | "roomList") =>
    new SignJWT({ video: { [grant]: true } })
      .setProtectedHeader({ alg: "HS256", typ: "JWT" })
      .setIssuer(LIVEKIT_API_KEY)
      .setExpirationTime(new Date(Date.now() + LIVEKIT_TOKEN_LIFETIME))
      .sign(new TextEncoder().encode(LIVEKIT_API_SECRET));

  /** Returns undefined for an expected Twirp error. A wrong address is a 404 too, but with another code. */
  async function ask(token: Promise<string>, method: string, request: object, expected: string[] = []) {
    const headers = { Authorization: `Bearer ${await token}`, "Content-Type": "application/json" };
    const { status, body } = await post(`${LIVEKIT_URL}/twirp/livekit.${method}`, headers, request);
    if (status === 200) return { body };
    if (expected.includes(twirpError().safeParse(body).data?.code ?? "")) return undefined;
    throw new LiveKitUnavailable("not_ok", { status });
  }

  const read = <Output>(schema: z.ZodType<Output>, answer?: { body: unknown }): Output => {
    const { success, data } = schema.safeParse(answer?.body);
    if (!success) throw new LiveKitUnavailable("malformed");
    return data;
  };

  const recordToken = lazily(() => tokenFor("roomRecord"));
  return {
    async findEgress(egress_id: string): Promise<EgressInfo | undefined> {
      const answer = await ask(recordToken(), "Egress/ListEgress", { egress_id }, ["not_found"]);
      if (!answer) return undefined;
      return read(egressList(), answer).find((each) => each.egressId === egress_id);
    },
    /** Succeeds too if the egress is unknown or has ended. */
    async stopEgress(egress_id: string): Promise<void> {
      const answer = await ask(recordToken(), "Egress/StopEgress", { egress_id }, STOPPED);
      if (answer && read(egressInfo(), answer).egressId !== egress_id)
        throw new LiveKitUnavailable("malformed");
    },
    async listRooms(): Promise<string[]> {
      return read(roomList(), await ask(tokenFor("roomList"), "RoomService/ListRooms", {}));
    },
  };
}

/** The errors of an egress that is unknown or has ended. */
const STOPPED = ["not_found", "failed_precondition"];

const twirpError = lazily(() => z.object({ code: z.string() }));

async function post(url: string, headers: Record<string, string>, body: object) {
  const request = {
    method: "POST",
    headers,
    body: JSON.stringify(body),
    // Never send the token to another host.
    redirect: "manual",
    signal: AbortSignal.timeout(LIVEKIT_TIMEOUT),
  } as const;
  try {
    const response = await fetch(url, request);
    const text = await textWithin(response, LIVEKIT_ANSWER_LIMIT);
    if (text === undefined) throw new LiveKitUnavailable("too_large");
    // Not always JSON: a proxy may return an error page.
    return { status: response.status, body: jsonOrUndefined(text) };
  } catch (cause) {
    if (cause instanceof LiveKitUnavailable) throw cause;
    const isTimeout = cause instanceof Error && cause.name === "TimeoutError";
    throw new LiveKitUnavailable(isTimeout ? "timeout" : "unreachable", { cause });
  }
}
