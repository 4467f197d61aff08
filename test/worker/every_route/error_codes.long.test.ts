import { describe, expect, it } from "vitest";
import { API_NAMES } from "../../../src/reference/apis.ts";
import { type Answer, type Api, api, platform, theWorker } from "../support/api.ts";
import { documents } from "../support/contract.ts";
import { expectRefusal } from "../support/expectations.ts";
import { anOrganization } from "../support/organization.ts";
import { routesBehind } from "../support/routes.ts";

const codeOf = ({ headers }: Answer) => headers.get("Error-Code");

const NAMES = /:\w+/g;

const patternsBehind = (base: string) =>
  Map.groupBy(routesBehind(base), (route) => route.split(" ")[1] ?? "");

/** The routes that match a pattern: `/invites/:id` also matches `/invites/bulk_create`. */
const takers = (base: string, method: string, pattern: string) =>
  routesBehind(base).filter((route) =>
    new RegExp(`^${route.replace(NAMES, "[^/]+")}$`).test(`${method} ${pattern}`),
  );

const operationOf = (base: string, route: string) => {
  const [method = "", pattern = ""] = route.split(" ");
  return documents[base]?.paths[pattern.replace(/:(\w+)/g, "{$1}")]?.[method.toLowerCase()];
};

describe.each(API_NAMES)("The document of the %s API", (name) => {
  it("has a code for each error of each operation, and its header lists exactly these", () => {
    const { paths = {} } = documents[`/api/${name}`] ?? {};
    for (const { operationId, responses } of Object.values(paths).flatMap((path) => Object.values(path)))
      for (const [status, { headers = {}, content = {} }] of Object.entries(responses)) {
        if (status < "400") continue;
        const examples = Object.values(content["application/json"]?.examples ?? {});
        const codes = new Set(examples.map(({ summary }) => summary));
        expect([...codes], `${operationId}: ${status}`).toEqual(headers["Error-Code"]?.schema.enum);
        expect(headers["Error-Code"]?.required).toBe(true);
        for (const { value } of examples) expect(Object.keys(value as object)).toEqual(["error"]);
      }
  });
});

describe.each([
  ["/api/external", "invalid_client"],
  ["/api/platform", "invalid_platform_token"],
] as const)("Every route of %s", (base, unauthorized) => {
  const theApi = async (): Promise<Pick<Api, "send" | "through">> =>
    base === "/api/platform" ? platform : (await anOrganization()).client;

  it.each(routesBehind(base))(
    "returns the right code for every fault that is found before a look-up: %s",
    async (route) => {
      const client = await theApi();
      const [method = "", pattern = ""] = route.split(" ");
      const path = pattern.replace(NAMES, "1");
      const operation = operationOf(base, route);
      const refusals: [Promise<Answer>, number, string][] = [
        [api(base, {}).send(method, path), 401, unauthorized],
        [client.through(plainHttp).send(method, path), 403, "https_required"],
      ];
      if (base === "/api/external") {
        const header = (name: string) => client.send(method, path, undefined, { [name]: "x".repeat(1000) });
        refusals.push([header("X-Acting-User"), 400, "invalid_acting_user"]);
        refusals.push([header("X-Purpose-Of-Use"), 400, "invalid_purpose_of_use"]);
      }
      if (operation?.requestBody) {
        const gzip = { "Content-Encoding": "gzip" };
        refusals.push([client.send(method, path, "{", {}), 400, "malformed_json"]);
        refusals.push([client.send(method, path, "{}", gzip), 415, "unsupported_encoding"]);
        refusals.push([client.send(method, path, " ".repeat(2_000_000), {}), 413, "body_too_large"]);
        refusals.push([client.send(method, path, "[]", {}), 422, "validation_failed"]);
      }
      const query = operation?.parameters?.find(({ in: place }) => place === "query");
      if (query) {
        refusals.push([
          client.send(method, `${path}?${query.name}=1&${query.name}=2`),
          400,
          "validation_failed",
        ]);
      }
      for (const [answer, status, code] of refusals) {
        expectRefusal(await answer, status);
        expect(codeOf(await answer)).toBe(code);
      }
    },
  );

  it.each([...patternsBehind(base)])("returns 405 for other methods: %s", async (pattern, routes) => {
    const client = await theApi();
    const path = pattern.replace(NAMES, "nothing-has-this");
    const methods = routes.map((route) => route.split(" ")[0] ?? "");
    for (const method of ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"]) {
      if (takers(base, method, pattern).length > 0) continue;
      const answer = await client.send(method, path);
      expectRefusal(answer, 405, /^Method not allowed\. This path supports [A-Za-z, ]+\.$/);
      expect(codeOf(answer)).toBe("method_not_allowed");
      const allowed = answer.headers.get("Allow")?.split(", ") ?? [];
      expect(allowed).toEqual(
        expect.arrayContaining(methods.includes("GET") ? [...methods, "HEAD"] : methods),
      );
      expect(allowed).not.toContain(method);
      expectRefusal(await api(base, {}).send(method, path), 401);
    }
  });
});

const plainHttp: typeof theWorker = (request) =>
  theWorker(new Request(request.url.replace("https:", "http:"), request));

it("Paths outside the APIs return error codes too", async () => {
  for (const [method, path, status, code] of [
    ["GET", "/nowhere", 404, "not_found"],
    ["GET", "/api/nowhere", 404, "not_found"],
    ["PATCH", "/health", 405, "method_not_allowed"],
    ["DELETE", "/.well-known/jwks.json", 405, "method_not_allowed"],
  ] as const) {
    const answer = await api("", {}).send(method, path);
    expectRefusal(answer, status);
    expect(codeOf(answer)).toBe(code);
  }
});
