import { Hono } from "hono";
import { describe, expect, it, vi } from "vitest";
import { inChunks, streamed } from "../../../src/http/streams.ts";
import { CHUNK_LENGTH } from "../../../src/tuning.ts";

const respond = (chunks: Iterable<string> | AsyncIterable<string>) =>
  new Hono()
    .onError((_, c) => c.text("fault", 500))
    .get("/", (c) => streamed(c, chunks, { "Content-Type": "text/plain" }))
    .request("/");

async function* breaking(...chunks: string[]) {
  yield* chunks;
  throw new Error("D1_ERROR: gone");
}

describe("streamed", () => {
  it("sends all chunks in order", async () => {
    for (const chunks of [[], ["a"], ["a", "é"], ["a", "b", "c"]])
      expect(await (await respond(chunks)).text()).toBe(chunks.join(""));
  });

  it("produces chunks as the caller reads, and stops when the caller leaves", async () => {
    const made: number[] = [];
    let ended = false;
    async function* chunks() {
      try {
        for (let n = 0; ; n++) {
          made.push(n);
          yield `${n}`;
        }
      } finally {
        ended = true;
      }
    }
    const reader = (await respond(chunks())).body?.getReader();
    await reader?.read();
    expect(made).toEqual([0, 1]);
    for (let n = 0; n < 3; n++) await reader?.read();
    expect(made).toEqual([0, 1, 2, 3]);
    await reader?.cancel();
    expect(ended).toBe(true);
  });

  it("breaks off on a fault, logs it once, and never ends as if it were complete", async () => {
    const logged = vi.spyOn(console, "error").mockReturnValue();
    const response = await respond(breaking("a", "b", "c"));
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow();
    expect(logged).toHaveBeenCalledOnce();
    logged.mockRestore();
  });

  it("responds with an error if the fault comes before the first chunk is sent", async () => {
    expect((await respond(breaking("a"))).status).toBe(500);
  });
});

it("inChunks joins parts into chunks of about the same length", () => {
  const part = "a".repeat(CHUNK_LENGTH / 4);
  const lengths = [...inChunks(Array(10).fill(part))].map(({ length }) => length);
  expect(lengths).toEqual([CHUNK_LENGTH, CHUNK_LENGTH, CHUNK_LENGTH / 2]);
  expect([...inChunks([])]).toEqual([]);
});
