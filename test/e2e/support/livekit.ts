import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { type EgressInfo, ListEgressRequest, ListEgressResponse, type WebhookEvent } from "@livekit/protocol";
import { AwsClient } from "aws4fetch";
import { AccessToken, TokenVerifier } from "livekit-server-sdk";

/** Sends an event as a LiveKit server does, with LiveKit's own messages and tokens. */
export async function sendEvent(url: string, key: string, secret: string, event: WebhookEvent) {
  const body = event.toJsonString();
  const token = new AccessToken(key, secret);
  token.sha256 = createHash("sha256").update(body).digest("base64");
  const headers = { "Content-Type": "application/webhook+json", Authorization: await token.toJwt() };
  const response = await fetch(`${url}/api/livekit/webhook`, { method: "POST", headers, body });
  return { status: response.status, body: await response.text() };
}

export async function uploadFile(
  server: string,
  settings: Record<string, string | undefined>,
  name: string,
  file: Uint8Array<ArrayBuffer>,
  type = "application/octet-stream",
) {
  const headers = { "Content-Type": type };
  const storage = new AwsClient({
    accessKeyId: settings.RECORDINGS_S3_ACCESS_KEY_ID ?? "",
    secretAccessKey: settings.RECORDINGS_S3_SECRET_ACCESS_KEY ?? "",
    service: "s3",
    region: settings.RECORDINGS_S3_REGION ?? "auto",
  });
  const bucket = `${settings.RECORDINGS_S3_ENDPOINT}/${settings.RECORDINGS_S3_BUCKET ?? "recordings"}`;
  const { status } = await storage.fetch(`${new URL(bucket, server)}/${name}`, {
    ...{ method: "PUT", headers, body: file },
  });
  if (status !== 200) throw new Error(`The storage does not take the file: status ${status}`);
}

/**
 * LiveKit's API for egresses, on a local port. It answers ListEgress (Twirp), and only with a token that may record.
 */
export async function startLiveKit(key: string, secret: string) {
  const verifier = new TokenVerifier(key, secret);
  const egresses = new Map<string, EgressInfo>();
  const livekit = {
    asked: [] as string[],
    url: "",
    /** Sets what the server returns for an egress from now on. */
    knows: (info: EgressInfo) => egresses.set(info.egressId, info),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse) {
    const { egressId } = ListEgressRequest.fromJsonString(await text(request));
    livekit.asked.push(egressId);
    const end = (status: number, json: string) =>
      response.writeHead(status, { "Content-Type": "application/json" }).end(json);
    const refuse = (status: number, code: string) => end(status, JSON.stringify({ code, msg: code }));
    if (request.method !== "POST" || request.url !== "/twirp/livekit.Egress/ListEgress")
      return refuse(404, "bad_route");
    const { video } = await verifier.verify(request.headers.authorization?.replace("Bearer ", "") ?? "");
    if (!video?.roomRecord) return refuse(401, "unauthenticated");
    const info = egresses.get(egressId);
    if (!info) return refuse(404, "not_found");
    return end(
      200,
      new ListEgressResponse({ items: [info] }).toJsonString({
        emitDefaultValues: true,
        useProtoFieldName: true,
      }),
    );
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error) => response.writeHead(401).end(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  livekit.url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return livekit;
}
