import { expect, it } from "vitest";
import { compileAll } from "../simulator/isolate.ts";
import { MUTATIONS } from "./mutations.ts";
import { OPERATIONS } from "./operations.ts";
import { playStories } from "./stories.ts";

it("The service answers 5,000 random stories as the model does", async () => {
  const { failure, stories, requests, answers } = await playStories(await compileAll(), 5000, { seed: 1 });
  expect(failure).toBeUndefined();
  process.stdout.write(`${stories} stories, ${requests} requests\n`);
  const succeeded = Object.keys(OPERATIONS).filter((name) =>
    [...(answers.get(name)?.keys() ?? [])].some((said) => said.startsWith("2")),
  );
  // No day is sealed in a story.
  expect(Object.keys(OPERATIONS).filter((name) => !succeeded.includes(name))).toEqual([
    "external GET /access_logs/{date}",
  ]);
});

it.each(MUTATIONS)("Within 1,000 stories, the model finds: $name", async (mutation) => {
  const { failure } = await playStories(await compileAll(mutation), 1000, { seed: 1, isShortened: false });
  expect(failure).toBeDefined();
});
