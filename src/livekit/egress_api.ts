import { SignJWT } from "jose";
import * as z from "zod";
import { jsonOrUndefined } from "../bytes/json.ts";
import { textWithin } from "../http/bounded_text.ts";
import { lazily } from "../memory.ts";
import type { Settings } from "../settings.ts";
import { LIVEKIT_ANSWER_LIMIT, LIVEKIT_TIMEOUT, LIVEKIT_TOKEN_LIFETIME } from "../tuning.ts";
import { type EgressInfo, egressList } from "./egress_info.ts";

/** Why LiveKit gave no answer: it cannot be reached in time, or not understood. */
type LiveKitFault = "unreachable" | "timeout" | "not_ok" | "too_large" | "malformed";

export class LiveKitUnavailable extends Error {
  override name = "LiveKitUnavailable";
  readonly fault: LiveKitFault;
  /** The HTTP status of a response that is not OK. */
  readonly status: number | undefined;

  constructor(fault: LiveKitFault, { status, ...options }: ErrorOptions & { status?: number } = {}) {
    super(fault, options);
    this.fault = fault;
    this.status = status;
  }
}

/**
 * Gives what LiveKit knows of an egress; undefined if it does not know it.
 *
 * @throws LiveKitUnavailable if it gives no answer
 */
type FindEgress = (egress_id: string) => Promise<EgressInfo | undefined>;

/** LiveKit's API for egresses (Twirp: JSON over POST), for a minute or two. Undefined without an address of LiveKit. */
export async function connectLiveKit(settings: Settings): Promise<FindEgress | undefined> {
  const { LIVEKIT_URL, LIVEKIT_API_KEY, LIVEKIT_API_SECRET } = settings;
  if (!LIVEKIT_URL || !LIVEKIT_API_KEY) return undefined;
  const token = await new SignJWT({ video: { roomRecord: true } })
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .setIssuer(LIVEKIT_API_KEY)
    .setExpirationTime(new Date(Date.now() + LIVEKIT_TOKEN_LIFETIME))
    .sign(new TextEncoder().encode(LIVEKIT_API_SECRET));
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };

  return async (egress_id) => {
    const { status, body } = await post(`${LIVEKIT_URL}/twirp/livekit.Egress/ListEgress`, headers, {
      egress_id,
    });
    // A wrong address is a 404 too, with another code.
    if (status === 404 && twirpError().safeParse(body).success) return undefined;
    if (status !== 200) throw new LiveKitUnavailable("not_ok", { status });
    const answer = egressList().safeParse(body);
    if (!answer.success) throw new LiveKitUnavailable("malformed");
    return answer.data.items.find((each) => each.egressId === egress_id);
  };
}

const twirpError = lazily(() => z.object({ code: z.literal("not_found") }));

async function post(url: string, headers: Record<string, string>, body: object) {
  const request = {
    method: "POST",
    headers,
    body: JSON.stringify(body),
    // The token is for LiveKit only.
    redirect: "manual",
    signal: AbortSignal.timeout(LIVEKIT_TIMEOUT),
  } as const;
  try {
    const response = await fetch(url, request);
    const text = await textWithin(response, LIVEKIT_ANSWER_LIMIT);
    if (text === undefined) throw new LiveKitUnavailable("too_large");
    // The error page of a proxy is no JSON.
    return { status: response.status, body: jsonOrUndefined(text) };
  } catch (cause) {
    if (cause instanceof LiveKitUnavailable) throw cause;
    const isTimeout = cause instanceof Error && cause.name === "TimeoutError";
    throw new LiveKitUnavailable(isTimeout ? "timeout" : "unreachable", { cause });
  }
}
