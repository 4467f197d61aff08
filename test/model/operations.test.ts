import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { compileAll } from "../simulator/isolate.ts";
import { OPERATIONS } from "./operations.ts";
import { playStories } from "./stories.ts";

const operationsOf = (api: string) => {
  const { paths } = JSON.parse(readFileSync(`dist/public/api/${api}/openapi.json`, "utf8")) as {
    paths: Record<string, object>;
  };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${api} ${method.toUpperCase()} ${path}`),
  );
};

it("The model has every operation of the published documents, and no other", () => {
  const published = [...operationsOf("external"), ...operationsOf("platform")];
  expect(Object.keys(OPERATIONS).sort()).toEqual(published.sort());
});

it("The service answers 100 random stories as the model does", async () => {
  const { failure } = await playStories(await compileAll(), 100, { seed: 2 });
  expect(failure).toBeUndefined();
});
