/** Collections of an API's requests, for Postman (format 2.1) and for Bruno, which imports them. */
import { APIS, type Api } from "./apis.ts";
import { developmentUrl } from "./info.ts";
import type { Document, Operation } from "./site/openapi.ts";

const SCHEMA = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json";

/** The variables of each API's credentials. They are empty: a collection gets passed on, so it must hold no secret. */
const CREDENTIALS: Record<Api, Record<string, string>> = {
  external: { "X-Client-ID": "{{CLIENT_ID}}", "X-Client-Secret": "{{CLIENT_SECRET}}" },
  platform: { Authorization: "Bearer {{PLATFORM_API_TOKEN}}" },
  livekit: { Authorization: "{{LIVEKIT_JWT}}" },
};

const headers = (values: Record<string, string>) =>
  Object.entries(values).map(([key, value]) => ({ key, value }));

export function postmanCollection(api: Api, document: Document): object {
  const requests = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      tag: operation.tags[0],
      item: { name: operation.summary, request: requestOf(api, method, path, operation) },
    })),
  );
  const variables = JSON.stringify(CREDENTIALS[api]).matchAll(/\{\{(\w+)\}\}/g);
  return {
    info: { name: APIS[api].title, schema: SCHEMA },
    item: document.tags
      .map(({ name }) => ({ name, item: requests.filter(({ tag }) => tag === name).map(({ item }) => item) }))
      .filter(({ item }) => item.length > 0),
    variable: [
      { key: "SERVER", value: developmentUrl() },
      ...[...variables].map(([, key]) => ({ key, value: "" })),
    ],
  };
}

function requestOf(api: Api, method: string, path: string, { parameters = [], requestBody }: Operation) {
  const url = `{{SERVER}}/api/${api}${path.replace(/\{(\w+)\}/g, ":$1")}`;
  const given = (place: string) =>
    parameters
      .filter((each) => each.in === place)
      .map(({ name, example = "", description = "", required = false }) => ({
        key: name,
        value: String(example),
        description,
        // The other parameters are off, so that the first request shows everything.
        ...(place === "query" && !required && { disabled: true }),
      }));
  const body = requestBody?.content["application/json"];
  const example = body?.example ?? Object.values(body?.examples ?? {})[0]?.value;
  return {
    method: method.toUpperCase(),
    header: headers({ ...CREDENTIALS[api], ...(body && { "Content-Type": "application/json" }) }),
    url: {
      raw: url,
      host: ["{{SERVER}}"],
      path: url.split("/").slice(1),
      variable: given("path"),
      query: given("query"),
    },
    ...(body && { body: { mode: "raw", raw: JSON.stringify(example ?? {}, null, 2) } }),
  };
}
