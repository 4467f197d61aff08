import { describe, expect, it, onTestFinished, vi } from "vitest";
import { sendMail } from "../../../src/mail/mail.ts";
import { MAIL_TIMEOUT } from "../../../src/tuning.ts";

const mail = { to: "ivy@example.com", subject: "Hello", text: "Hello", html: "<p>Hello</p>" };

const waitFor = (send: () => Promise<unknown>) =>
  sendMail({ from: "invites@clinic.test", provider: { send } as never }, mail);

const sending = (error: unknown) => waitFor(() => Promise.reject(error));

describe("sendMail", () => {
  it.each(["E_RATE_LIMIT_EXCEEDED", "E_DAILY_LIMIT_EXCEEDED", "E_INTERNAL_SERVER_ERROR"])(
    "defers the mail after %s, in the code or the message of the error",
    async (code) => {
      const deferred = { state: "deferred", reason: code };
      expect(await sending(Object.assign(new Error("Not now"), { code }))).toEqual(deferred);
      expect(await sending(new Error(`${code}: not now, ivy@example.com`))).toEqual(deferred);
    },
  );

  it("fails for any other error, and does not return its message", async () => {
    const failed = { state: "failed", reason: "unknown" };
    for (const error of [new Error("ivy@example.com is not allowed"), "ivy@example.com", null, undefined])
      expect(await sending(error)).toEqual(failed);
  });
});

describe("sendMail, with a slow provider", () => {
  it("returns an unknown outcome after the limit, whatever happens later", async () => {
    const limit = new AbortController();
    const timeout = vi.spyOn(AbortSignal, "timeout").mockReturnValue(limit.signal);
    onTestFinished(() => timeout.mockRestore());
    const sent = Promise.withResolvers();
    const outcome = waitFor(() => sent.promise);
    limit.abort();
    expect(await outcome).toEqual({ state: "unknown" });
    expect(timeout).toHaveBeenCalledWith(MAIL_TIMEOUT);
    sent.reject(new Error("E_RATE_LIMIT_EXCEEDED"));
    await new Promise((resolve) => setTimeout(resolve));
  });

  it("returns sent if the answer comes in time", async () => {
    expect(await waitFor(() => Promise.resolve({ messageId: "1" }))).toEqual({ state: "sent" });
  });
});
