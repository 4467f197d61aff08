import { describe, expect, it } from "vitest";
import { door, platform } from "./support/door.ts";
import { observedDatabase } from "./support/observed_database.ts";
import { throughWorkerWith } from "./support/worker.ts";

const anybody = door("", {});

const without = (DB: D1Database) => anybody.through(throughWorkerWith({ DB }));

describe("The health of the service", () => {
  it("is told to anybody", async () => {
    expect(await anybody.get("/health")).toMatchObject({ status: 200, body: { status: "ok" } });
  });

  it("is bad where the database cannot be reached, and nothing more is said", async () => {
    const lost = observedDatabase({
      query: () => Promise.reject(new Error("D1_ERROR: Network connection lost.")),
    });
    expect(await without(lost).get("/health")).toMatchObject({
      status: 503,
      body: { error: "The database cannot be reached" },
    });
  });
});

describe("The platform's token", () => {
  const previous = "the-token-before-this-one";
  const platformWith = (token: string, bindings: object) =>
    door("/api/platform", { Authorization: `Bearer ${token}` }, throughWorkerWith(bindings));

  it("is valid beside the previous one, for the time of a rotation", async () => {
    const rotating = { PLATFORM_API_TOKEN_PREVIOUS: previous };
    const created = platformWith(previous, rotating).post("/organizations", {
      organization: { name: "Clinic" },
    });
    expect(await created).toMatchObject({ status: 201 });
    expect(await platform.through(throughWorkerWith(rotating)).get("/waiting_rooms/none")).toMatchObject({
      status: 404,
    });
    expect(
      await platformWith("neither-of-the-two-tokens", rotating).get("/waiting_rooms/none"),
    ).toMatchObject({
      status: 401,
    });
  });

  it("that was before is valid no longer once it is taken away", async () => {
    expect(await platformWith(previous, {}).get("/waiting_rooms/none")).toMatchObject({ status: 401 });
  });
});

describe("A setting that is missing", () => {
  it("stops every request, and the caller is told nothing of it", async () => {
    const answer = await platform
      .through(throughWorkerWith({ PLATFORM_API_TOKEN: undefined }))
      .get("/waiting_rooms/none");
    expect(answer).toMatchObject({ status: 500, body: { error: "Internal server error" } });
  });
});
