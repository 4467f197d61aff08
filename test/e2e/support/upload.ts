import { AwsClient } from "aws4fetch";

/** Stores a file of a recording, as LiveKit does. */
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
    method: "PUT",
    headers,
    body: file,
  });
  if (status !== 200) throw new Error(`The storage does not take the file: status ${status}`);
}
