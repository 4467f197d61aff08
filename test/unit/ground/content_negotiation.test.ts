import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { inWantedType } from "../../../src/http/content_negotiation.ts";

const app = new Hono().get("/", (c) =>
  inWantedType(c, { "application/json": () => c.json({}), "text/vtt": () => c.text("WEBVTT") }),
);

async function answerTo(accept: string | undefined) {
  const response = await app.request("/", { headers: accept === undefined ? {} : { Accept: accept } });
  expect(response.headers.get("Vary")).toBe("Accept");
  return (await response.text()) === "WEBVTT" ? "WebVTT" : "JSON";
}

describe("inWantedType", () => {
  it.each([
    "text/vtt",
    " text/vtt ",
    "text/vtt, application/json;q=0.9",
    "application/json;q=0.001,text/vtt;q=0.002",
    "application/json ; Q=0.5 , text/vtt ; q=0.6",
    "text/vtt, application/*;q=0.9, */*;q=0.8",
    "text/html, text/vtt;q=0.5, */*;q=0.4",
    'text/html;title="a, application/json", text/vtt;q=0.5',
    "text/vtt;q=0.2, text/vtt;charset=utf-8;q=0.6, application/json;q=0.4",
  ])("chooses WebVTT for %s", async (accept) => {
    expect(await answerTo(accept)).toBe("WebVTT");
  });

  it.each([
    undefined,
    "",
    "*/*",
    "application/json, text/vtt",
    "text/vtt;q=0.5, application/json;q=0.5",
    "text/vtt;q=0.5, application/json;q=0.6",
    "*/*, text/vtt",
    "*/*;q=0.9, text/vtt;q=0.5",
    "text/vtt;q=0",
    "text/*, text/vtt;q=0, */*;q=0.1",
    "text/vtt;q=0.1, text/*;q=0.9, application/json;q=0.5",
    "text/html",
    "text/*, */*;q=0.9",
    "application/json;q=0, */*",
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
    "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2",
    "application/vnd.api+json",
    "xtext/vtt",
  ])("chooses JSON for %s", async (accept) => {
    expect(await answerTo(accept)).toBe("JSON");
  });
});
