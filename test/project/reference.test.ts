import { readFileSync } from "node:fs";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { expect, it } from "vitest";

it.each(["external", "platform", "livekit"])(
  "Redocly's recommended rules find nothing in the document of the %s API",
  async (api) => {
    const problems = await lintFromString({
      source: readFileSync(`dist/public/api/${api}/openapi.json`, "utf8"),
      absoluteRef: `${api}.json`,
      config: await createConfig({ extends: ["recommended"] }),
    });
    expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual(
      [],
    );
  },
);
