import { describe, expect, it } from "vitest";
import { randomSecret, shardOfSecret } from "../../../src/bytes/digest.ts";

describe("A secret", () => {
  it.each([
    [16, 22],
    [32, 43],
  ])("of %i bytes has %i characters, and names its shard", (bytes, length) => {
    for (const shard of [0, 1, 2, 63, 64, 255, 256, 5000, 65_535]) {
      const secret = randomSecret(bytes, shard);
      expect(secret).toMatch(new RegExp(`^[A-Za-z0-9_-]{${length}}$`));
      expect(shardOfSecret(secret, bytes)).toBe(shard);
    }
  });

  it("belongs to the first shard if it has another length or no mark", () => {
    for (const text of ["", "B", "AAAAAAAAAAAAAAAAAAAAAAB", "ABAAAAAAAAAAAAAAAAAAAA"])
      expect(shardOfSecret(text, 16)).toBe(0);
  });

  it("is random except for its shard", () => {
    const secrets = Array.from({ length: 100 }, () => randomSecret(16, 1).slice(3));
    expect(new Set(secrets).size).toBe(100);
  });
});
