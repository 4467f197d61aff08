import { describe, expect, it } from "vitest";
import type { Schema } from "../../../src/reference/site/openapi.ts";
import type { Example } from "../../support/clinic.ts";
import { type Answer, platform } from "../support/api.ts";
import { documents } from "../support/contract.ts";
import { rowsOf } from "../support/database.ts";
import { anOrganization, given, type Organization } from "../support/organization.ts";
import { externalExamples, platformExamples } from "../support/routes.ts";
import { changingNothing } from "../support/unchanged.ts";

type Refused = [code: string, path: string, headers?: Record<string, string>, body?: object];

const routes = [
  ...Object.entries(externalExamples).map(([route, example]) => ["external", route, example] as const),
  ...Object.entries(platformExamples).map(([route, example]) => ["platform", route, example] as const),
];

const FOR_ADMINS =
  /^\w+ \/(events|access_log|webhook_endpoints|api_clients|token_checks)|^PUT \/organization$|^(PUT|DELETE) \/organization_users\/:id$|^DELETE \/participants$|\/participants\/export$|\/legal_hold$|^DELETE .*\/(transcript|soap_note|egresses\/:id)$/;

/** These change nothing that an organization_admin sets up, so the isolate's knowledge of the client is enough. */
const ONLY_SENT = /\/(ping|redeliver|token_checks)$/;

/** Reports repeat and overtake each other: what they cannot change is in the tests of each report. */
const isReport = (api: string, route: string) => api === "platform" && /:key|:egress_id/.test(route);

const STAMPED = /^(id|created_at|updated_at|waiting_count|call_ids|results|disabled_reason|reason)$/;

function documentOf(api: string, route: string) {
  const document = documents[`/api/${api}`];
  const [method = "", pattern = ""] = route.split(" ");
  const operation = document?.paths[pattern.replace(/:(\w+)/g, "{$1}")]?.[method.toLowerCase()];
  const { parameters = [], requestBody, responses = {} } = operation ?? {};
  const propertiesOf = (schema: Schema | undefined): Record<string, Schema> => {
    const named = document?.components.schemas[schema?.$ref?.split("/").at(-1) ?? ""] as Schema | undefined;
    const { properties = {}, anyOf = [] } = named ?? schema ?? {};
    return Object.assign({}, properties, ...anyOf.map(propertiesOf));
  };
  const [wrapper = ""] = Object.keys(propertiesOf(requestBody?.content["application/json"]?.schema));
  const requested = propertiesOf(propertiesOf(requestBody?.content["application/json"]?.schema)[wrapper]);
  const shown = propertiesOf(responses["200"]?.content?.["application/json"]?.schema);
  const others = Object.keys(wrapper in shown ? propertiesOf(shown[wrapper]) : shown).filter(
    (name) => !(name in requested) && name !== "slug" && !STAMPED.test(name),
  );
  const namesIn = (place: string) => parameters.filter((each) => each.in === place).map(({ name }) => name);
  return { wrapper, others, query: namesIn("query"), isConditional: namesIn("header").includes("If-Match") };
}

const codeOf = ({ status, headers }: Answer) => [status, headers.get("Error-Code")];

describe.each(routes)("%s API: %s", (api, route, example) => {
  const [method = ""] = route.split(" ");
  const { wrapper, others, query, isConditional } = documentOf(api, route);
  const senderIn = ({ client }: Organization) => (api === "external" ? client : platform);
  const bodyWith = ({ body = {} }: Example, fields: object) => ({
    ...body,
    [wrapper]: { ...(body as Record<string, object>)[wrapper], ...fields },
  });

  it("refuses each limit that it does not obey, and changes nothing", async () => {
    const clinic = await anOrganization();
    const made = await example(clinic);
    const [path = ""] = made.path.split("?");
    const refused: Refused[] = [
      ["unknown_parameter", `${made.path}${made.path.includes("?") ? "&" : "?"}unknown=1`],
      ["unknown_parameter", `${path}?from_day`],
      ...query
        .filter((name) => /reference|user|email/.test(name) && name !== "unknown")
        .map((name): Refused => ["validation_failed", `${path}?${name}=`]),
      isConditional
        ? ["changed_meanwhile", made.path, { "If-Match": 'W/"1-1-1"' }]
        : ["invalid_if_match", made.path, { "If-Match": "*" }],
      ...(method === "PUT" && !isReport(api, route) ? others : []).map(
        (name): Refused => ["field_not_changeable", made.path, {}, bodyWith(made, { [name]: "another" })],
      ),
      ...(method === "GET" ? [] : [["invalid_if_match", made.path, { "If-None-Match": "*" }] as Refused]),
    ];
    await changingNothing(async () => {
      for (const [code, sent, headers, body = made.body] of refused) {
        const answer = await senderIn(clinic).send(method, sent, body, headers);
        const status = { changed_meanwhile: 412, field_not_changeable: 422 }[code] ?? 400;
        expect(codeOf(answer), `${sent} ${JSON.stringify(body)}`).toEqual([status, code]);
      }
    });
  });

  if (method === "PUT" && !isReport(api, route))
    it("accepts what the resource shows, sent back with the change, and ignores another id and time", async () => {
      const clinic = await anOrganization();
      const made = await example(clinic);
      const { status, body: read } = await senderIn(clinic).send("GET", made.path);
      if (status !== 200) return;
      const { slug: _, ...fields } = { ...read, ...(made.body as Record<string, object>)[wrapper] };
      const others = { id: read.id + 1, created_at: "2020-01-01T00:00:00.000Z" };
      const answer = await senderIn(clinic).send(method, made.path, bodyWith(made, { ...fields, ...others }));
      expect([answer.status, answer.body.error]).toEqual([200, undefined]);
      expect([answer.body.id, answer.body.created_at]).toEqual([read.id, read.created_at]);
    });

  if (api === "external")
    if (api === "external" && method !== "GET" && FOR_ADMINS.test(route) && !ONLY_SENT.test(route))
      it("is refused to a client whose user was an organization_admin a moment ago", async () => {
        const clinic = await anOrganization();
        const made = await example(clinic);
        const { id } = await clinic.addUser("Bea Boss", ["organization_admin"]);
        const client = await clinic.addClient(id);
        // From now on, the isolate knows the client as an administrator's.
        await given(client.get("/organization"));
        await given(clinic.platform.put(`/users/${id}`, { user: { roles: ["provider"] } }));
        // Not with `changingNothing`, which lets an hour pass, so that the isolate looks the client up again.
        const before = await rowsOf(clinic.id);
        expect(codeOf(await client.send(method, made.path, made.body))).toEqual([403, "missing_role"]);
        expect(await rowsOf(clinic.id)).toEqual(before);
      });
});
