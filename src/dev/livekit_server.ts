import { createHash } from "node:crypto";
import { AwsClient } from "aws4fetch";
import { SignJWT } from "jose";

/** The headers with which a LiveKit server sends an event: its token names the SHA-256 of the body. */
export async function webhookHeaders(key: string, secret: string, body: string) {
  const token = await new SignJWT({ sha256: createHash("sha256").update(body).digest("base64") })
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .setIssuer(key)
    .setExpirationTime("5 minutes")
    .sign(new TextEncoder().encode(secret));
  return { "Content-Type": "application/webhook+json", Authorization: token };
}

/** Puts a file into the bucket, as LiveKit's recorder does. */
export async function uploadFile(
  server: string,
  settings: Record<string, string | undefined>,
  name: string,
  file: Uint8Array<ArrayBuffer>,
) {
  const storage = new AwsClient({
    accessKeyId: settings.RECORDINGS_S3_ACCESS_KEY_ID ?? "",
    secretAccessKey: settings.RECORDINGS_S3_SECRET_ACCESS_KEY ?? "",
    service: "s3",
    region: settings.RECORDINGS_S3_REGION ?? "auto",
  });
  const bucket = `${settings.RECORDINGS_S3_ENDPOINT}/${settings.RECORDINGS_S3_BUCKET ?? "recordings"}`;
  const { status } = await storage.fetch(`${new URL(bucket, server)}/${name}`, { method: "PUT", body: file });
  if (status !== 200) throw new Error(`The storage does not take the file: status ${status}`);
}
