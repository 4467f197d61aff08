import { AwsClient } from "aws4fetch";
import { expect } from "vitest";
import type { anOrganization } from "./organization.ts";

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

type Clinic = Awaited<ReturnType<typeof anOrganization>>;

interface Provider {
  id: number;
  waiting_room_slug: string;
}

/** Reports a call that has ended. */
export async function reportCall(
  { platform, base }: Clinic,
  provider: Provider,
  key: string,
  participants: object[],
) {
  const call = {
    waiting_room_slug: provider.waiting_room_slug,
    organization_user_id: provider.id,
    started_at: "2026-01-31T09:30:00Z",
    ended_at: "2026-01-31T10:30:00Z",
    participants,
  };
  const path = `${base}/calls/${key}`;
  const { status, body } = await platform("PUT", path, { call });
  expect(status).toBe(200);
  return { path, body };
}

/** Reports a recording of a call in a file of the organization's folder. Returns the recording's path. */
export async function reportRecording(
  clinic: Clinic,
  provider: Provider,
  key: string,
  file: string,
): Promise<string> {
  const rita = { key: "rita", display_name: "Rita", role: "recipient", recording_consent: true };
  const { body: call } = await reportCall(clinic, provider, key, [rita]);
  const egress = {
    call_key: key,
    status: "egress_ended",
    storage_key: `${clinic.organization.slug}/${file}`,
  };
  const { status, body } = await clinic.platform("PUT", `${clinic.base}/egresses/${key}`, { egress });
  expect(status).toBe(200);
  return `/organization_users/${provider.id}/calls/${call.id}/egresses/${body.id}`;
}
