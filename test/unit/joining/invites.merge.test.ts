import { describe, expect, it } from "vitest";
import { afterFailedMail } from "../../../src/joining/invites/invites.merge.ts";

const NOW = Date.parse("2026-01-31T09:30:00.000Z");

describe("afterFailedMail", () => {
  const deferred = { state: "deferred", reason: "E_RATE_LIMIT_EXCEEDED" } as const;
  const expires_at = NOW + 3 * 86_400_000;

  it("retries after a pause that doubles, up to six hours", () => {
    const pauses = Array.from({ length: 9 }, (_, mail_attempts) => {
      const next = afterFailedMail({ expires_at, mail_attempts }, deferred, NOW, 0);
      expect(next).toMatchObject({ mail_status: "queued", mail_attempts: mail_attempts + 1 });
      return ((next.next_mail_at ?? 0) - NOW) / 60_000;
    });
    expect(pauses).toEqual([5, 10, 20, 40, 80, 160, 320, 360, 360]);
  });

  it("gives up when the invite would have expired, or after a permanent error", () => {
    const failed = { mail_status: "failed", next_mail_at: null, mail_attempts: 1 };
    const soon = { expires_at: NOW + 5 * 60_000, mail_attempts: 0 };
    expect(afterFailedMail(soon, deferred, NOW, 0)).toEqual(failed);
    expect(afterFailedMail({ ...soon, expires_at: soon.expires_at + 1 }, deferred, NOW, 0)).toMatchObject({
      mail_status: "queued",
    });
    const final = { state: "failed", reason: "E_VALIDATION_ERROR" } as const;
    expect(afterFailedMail({ expires_at, mail_attempts: 0 }, final, NOW)).toEqual(failed);
  });
});
