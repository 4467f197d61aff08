import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { API_NAMES } from "../../src/reference/apis.ts";
import { documentOf, operationsOf } from "./support/documents.ts";

const pair = z.strictObject({
  key: z.string().min(1),
  value: z.string(),
  description: z.string().optional(),
  disabled: z.boolean().optional(),
});

/** The part of Postman's schema 2.1 that the collections use, without unknown keys. */
const request = z.strictObject({
  name: z.string().min(1),
  request: z.strictObject({
    method: z.enum(["GET", "POST", "PUT", "DELETE"]),
    header: z.array(pair),
    url: z.strictObject({
      raw: z.string().startsWith("{{SERVER}}/api/"),
      host: z.array(z.string()),
      path: z.array(z.string().min(1)),
      variable: z.array(pair),
      query: z.array(pair),
    }),
    body: z.strictObject({ mode: z.literal("raw"), raw: z.string() }).optional(),
  }),
});

const collection = z.strictObject({
  info: z.strictObject({
    name: z.string().min(1),
    schema: z.literal("https://schema.getpostman.com/json/collection/v2.1.0/collection.json"),
  }),
  item: z.array(z.strictObject({ name: z.string().min(1), item: z.array(request).min(1) })),
  variable: z.array(pair),
});

describe.each(API_NAMES)("The collection of the %s API", (api) => {
  const textIn = (assets: string) => readFileSync(`dist/${assets}/api/${api}/postman.json`, "utf8");
  const text = textIn("public");
  const { item, variable } = collection.parse(JSON.parse(text));
  const requests = item.flatMap((each) => each.item.map((one) => one.request));

  it("has every operation once, and a value for each part of its path", () => {
    expect(requests).toHaveLength(operationsOf({ paths: documentOf(api).paths }).length);
    for (const { url, body } of requests) {
      const named = url.path.filter((part) => part.startsWith(":")).map((part) => part.slice(1));
      expect(url.variable.map(({ key }) => key)).toEqual(named);
      for (const { value } of url.variable) expect(value, url.raw).not.toBe("");
      if (body) expect(() => JSON.parse(body.raw)).not.toThrow();
    }
  });

  it("holds no credentials, in development neither", () => {
    for (const { key, value } of variable)
      expect(value).toBe(key === "SERVER" ? "http://localhost:8787" : "");
    for (const each of [text, textIn("development")])
      expect(each).not.toMatch(/development-[a-z]|demo-client/);
  });

  it("has the ids of the demo organization in development", () => {
    const texts = (assets: string) => textIn(assets).match(/"value": "\d+"|--cardiology/g) ?? [];
    expect(texts("development")).toHaveLength(texts("public").length);
    expect(textIn("development")).not.toContain("riverside-clinic--cardiology");
  });
});
