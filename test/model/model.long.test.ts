import { expect, it } from "vitest";
import { compileAll } from "../simulator/isolate.ts";
import { playStories } from "./stories.ts";

it("The service answers 5,000 random stories as the model does", async () => {
  const { failure, stories, requests } = await playStories(await compileAll(), 5000, { seed: 1 });
  expect(failure).toBeUndefined();
  process.stdout.write(`${stories} stories, ${requests} requests\n`);
});
