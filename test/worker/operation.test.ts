import { describe, expect, it } from "vitest";
import { door, platform } from "./support/door.ts";
import { observedDatabase } from "./support/observed_database.ts";
import { throughWorkerWith } from "./support/worker.ts";

const anybody = door("", {});

const without = (DB: D1Database) => anybody.through(throughWorkerWith({ DB }));

describe("The health of the service", () => {
  it("is visible to anybody", async () => {
    expect(await anybody.get("/health")).toMatchObject({ status: 200, body: { status: "ok" } });
  });

  it("is 503 without details if the database cannot be reached", async () => {
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

  it("is valid together with the previous one during a rotation", async () => {
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

  it("that was used before is no longer valid when it is removed", async () => {
    expect(await platformWith(previous, {}).get("/waiting_rooms/none")).toMatchObject({ status: 401 });
  });
});

describe("A setting that is missing", () => {
  it("stops every request, and the caller gets no details", async () => {
    const answer = await platform
      .through(throughWorkerWith({ PLATFORM_API_TOKEN: undefined }))
      .get("/waiting_rooms/none");
    expect(answer).toMatchObject({ status: 500, body: { error: "Internal server error" } });
  });
});
