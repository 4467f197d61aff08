import { describe, expect, it } from "vitest";
import { MAX_OLD_WEBHOOK_SECRETS, OLD_WEBHOOK_SECRET_LIFETIME } from "../../src/limits.ts";
import {
  mergeEndpoint,
  newEndpoint,
  rotateSecret,
} from "../../src/resources/webhook_endpoints/webhook_endpoints.merge.ts";
import { DISABLED_AS_RESTORED } from "../../src/resources/webhook_endpoints/webhook_endpoints.refusals.ts";
import type { WebhookEndpoint } from "../../src/resources/webhook_endpoints/webhook_endpoints.schemas.ts";

const NOW = Date.parse("2026-01-31T09:30:00Z");
const HERE = "https://service.test";

const disabled = {
  id: 6,
  organization_id: 1,
  url: "https://hooks.example.com/visits",
  event_types: null,
  is_active: false,
  disabled_reason: "gone",
  service_url: "https://elsewhere.test",
  created_by_user_id: 33,
  failing_since: 5,
  created_at: 0,
  updated_at: 0,
};

const SUCCESSOR = 34;

/** Changed by another administrator than the one who answers for it. */
const by = (endpoint: WebhookEndpoint) => ({ endpoint, service_url: HERE, user_id: SUCCESSOR });

describe("A webhook endpoint", () => {
  it("is active and wants all types, unless told otherwise", () => {
    const known = {
      organization_id: 1,
      secret: "s",
      service_url: HERE,
      created_by_user_id: 33,
      isFull: false,
    };
    const { url } = disabled;
    expect(newEndpoint(known, { url }, NOW)).toMatchObject({ url, is_active: true, created_at: NOW });
    expect(newEndpoint(known, { url, is_active: false }, NOW)).toMatchObject({ is_active: false });
    expect(() => newEndpoint({ ...known, isFull: true }, { url }, NOW)).toThrow(/delete one first/);
  });

  it("that is activated is neither disabled nor failing", () => {
    expect(mergeEndpoint(by(disabled), { is_active: true }, NOW)).toEqual({
      ...disabled,
      created_by_user_id: SUCCESSOR,
      is_active: true,
      disabled_reason: null,
      failing_since: null,
      updated_at: NOW,
    });
  });

  it("that was restored, and that a client wants to be off, is not turned on by the operator", () => {
    const restored = { ...disabled, disabled_reason: DISABLED_AS_RESTORED };
    expect(mergeEndpoint(by(restored), { is_active: false }, NOW).disabled_reason).toBeNull();
    const { url } = disabled;
    expect(mergeEndpoint(by(restored), { url }, NOW).disabled_reason).toBe(DISABLED_AS_RESTORED);
  });

  it("that is moved is not known to fail, and is checked against where the service was reached then", () => {
    const url = "https://new.example.com";
    expect(mergeEndpoint(by(disabled), { url }, NOW)).toEqual({
      ...disabled,
      created_by_user_id: SUCCESSOR,
      url,
      service_url: HERE,
      failing_since: null,
      updated_at: NOW,
    });
  });

  it.each([
    ["its URL is sent again", { url: disabled.url }],
    ["it is turned off", { is_active: false }],
    ["it is active already", { is_active: true }],
    ["it gets other types", { event_types: ["call.ended" as const] }],
  ])("stays its creator's where %s", (_, input) => {
    const active = { ...disabled, is_active: true };
    expect(mergeEndpoint(by(active), input, NOW).created_by_user_id).toBe(disabled.created_by_user_id);
  });

  it("keeps what an update leaves out", () => {
    expect(mergeEndpoint(by(disabled), { is_active: false }, NOW)).toEqual({
      ...disabled,
      updated_at: NOW,
    });
    const narrow = { ...disabled, event_types: ["call.ended" as const] };
    expect(mergeEndpoint(by(narrow), {}, NOW).event_types).toEqual(["call.ended"]);
    expect(mergeEndpoint(by(narrow), { event_types: null }, NOW).event_types).toBeNull();
  });
});

describe("A rotated secret", () => {
  const old = (count: number, expires_at: number) =>
    Array.from({ length: count }, (_, n) => ({ secret: `old ${n}`, expires_at }));

  it("goes on signing for a day, beside those that have not expired", () => {
    const previous_secrets = [...old(1, NOW + 1), ...old(1, NOW)];
    expect(rotateSecret({ secret: "current", previous_secrets }, "new", NOW)).toEqual({
      secret: "new",
      previous_secrets: [
        ...old(1, NOW + 1),
        { secret: "current", expires_at: NOW + OLD_WEBHOOK_SECRET_LIFETIME },
      ],
      updated_at: NOW,
    });
  });

  it("is refused while as many old ones sign as can", () => {
    const rotate = (expires_at: number) =>
      rotateSecret(
        { secret: "current", previous_secrets: old(MAX_OLD_WEBHOOK_SECRETS, expires_at) },
        "new",
        NOW,
      );
    expect(() => rotate(NOW + 1)).toThrow(/within a day/);
    expect(rotate(NOW).previous_secrets).toHaveLength(1);
  });
});
