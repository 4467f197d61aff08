import * as z from "zod";
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from "zod-openapi";
import { app } from "../app.ts";
import { actingHeaders } from "../http/acting_user.ts";
import type { CostlyRequest } from "../http/costly_requests.ts";
import type { Input } from "../http/validation.ts";
import type { Operation } from "../openapi/operation.ts";
import { APIS, type Api } from "./apis.ts";
import { bounded } from "./bounds.ts";
import { exampleFields, requireExamplesToMatch } from "./examples.ts";
import { describeFields } from "./fields.ts";
import { commonHeaders, headersOf, REPLAYED, sharedHeaders } from "./headers.ts";
import { introductionOf } from "./info.ts";
import { bookmarkParameter, described } from "./parameters.ts";
import { references } from "./references.ts";
import { hasError, type Route, refusalsOf } from "./refusals.ts";
import { simplify } from "./simplify.ts";
import { webhooks } from "./webhooks.ts";

/** The OpenAPI 3.1 document of an API: its registered routes, each with what the references say about it. */
export function buildDocument(api: Api) {
  const { security, securitySchemes } = APIS[api];
  const document = createDocument({
    openapi: "3.1.1",
    ...introductionOf(api),
    security: [security],
    tags: references
      .filter((each) => each[api] || (api === "external" && each.webhooks))
      .map(({ tag, description }) => ({ name: tag, description })),
    paths: pathsOf(api),
    ...(api === "external" ? { webhooks: webhooks() } : {}),
    components: { securitySchemes, headers: sharedHeaders(api) },
  });
  describeRequests(api, document);
  return bounded(simplify(document)) as typeof document;
}

/** Method and pattern of each route of an API, with what its middleware says of it. */
function routesOf(api: Api): Map<string, Route> {
  const routes = new Map<string, Route>();
  for (const { method, path, handler } of app.routes) {
    if (method === "ALL" || !path.startsWith(`/api/${api}/`)) continue;
    const route = `${method} ${path.slice(`/api/${api}`.length)}`;
    const known: Route = routes.get(route) ?? { inputs: [] };
    if ("input" in handler) known.inputs.push(handler.input as Input);
    if ("isRecorded" in handler) known.isRecorded = true;
    if ("isOutsideQuotas" in handler) known.isOutsideQuotas = true;
    if ("limited" in handler) known.limited = handler.limited as CostlyRequest;
    routes.set(route, known);
  }
  return routes;
}

/** In the order of the references. */
function pathsOf(api: Api): ZodOpenApiPathsObject {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  const routes = routesOf(api);
  for (const { tag, [api]: operations = {} } of references)
    for (const [route, operation] of Object.entries(operations)) {
      const known = routes.get(route);
      if (!known) throw new Error(`A reference describes ${route} of the ${api} api, which does not exist`);
      routes.delete(route);
      const [method = "", pattern = ""] = route.split(" ");
      const path = pattern.replace(/:(\w+)/g, "{$1}");
      paths[path] ??= {};
      paths[path][method.toLowerCase()] = operationObject(api, method, known, tag, operation);
    }
  if (routes.size > 0)
    throw new Error(`No reference describes ${[...routes.keys()].join(", ")} of the ${api} api`);
  return paths;
}

function operationObject(
  api: Api,
  method: string,
  route: Route,
  tag: string,
  operation: Operation,
): ZodOpenApiOperationObject {
  const schemaOf = (target: Input["target"]) =>
    route.inputs.find((input) => input.target === target)?.schema();
  const [query, path, json, header] = [
    schemaOf("query"),
    schemaOf("param"),
    schemaOf("json"),
    schemaOf("header"),
  ];
  const { operationId, summary, description, parameters, response, alternatives } = operation;
  const status = operation.status ?? statusOf(method);
  const answers = Object.entries({ ...(response ? { [JSON_TYPE]: response } : {}), ...alternatives });
  const body = json ? { schema: json, mediaType: JSON_TYPE, ...requestExamples(operation) } : operation.body;
  if (body) requireExamplesToMatch(`${operationId}, request`, body);
  for (const [, answer] of answers) requireExamplesToMatch(`${operationId}, response`, answer);
  return {
    operationId,
    summary,
    ...(description ? { description: route.isRecorded ? `${description} ${RECORDED}` : description } : {}),
    tags: [tag],
    requestParams: {
      ...(path ? { path: described(path, parameters) } : {}),
      ...(query ? { query: described(query, parameters) } : {}),
      header: z.object({
        ...(header ? described(header, parameters).shape : {}),
        ...(method === "GET" ? { "X-D1-Bookmark": bookmarkParameter } : {}),
        ...(api === "external" ? described(actingHeaders()).shape : {}),
      }),
    },
    ...(body
      ? {
          requestBody: {
            required: true,
            description: REQUEST_BODY,
            content: { [body.mediaType]: { schema: body.schema, ...exampleFields(body) } },
          },
        }
      : {}),
    responses: {
      [status]: {
        description: SUCCESS[status],
        headers: headersOf(api, {
          ...commonHeaders(api),
          // A response with a secret is not stored, so it is never a replay.
          ...(header && !hasError(operation, 409) ? REPLAYED : {}),
          ...operation.headers,
        }),
        ...(answers.length > 0
          ? {
              content: Object.fromEntries(
                answers.map(([type, answer]) => [type, { schema: answer.schema, ...exampleFields(answer) }]),
              ),
            }
          : {}),
      },
      ...refusalsOf(api, method, route, operation),
    },
  };
}

function requestExamples({ operationId, request }: Operation) {
  if (!request) throw new Error(`${operationId} takes a body, and its reference has no example of one`);
  return request;
}

/** Of what the middleware `recordedRead` is for. */
const RECORDED = "The access log records it.";

const JSON_TYPE = "application/json";

const REQUEST_BODY =
  "JSON. Keys that are not described here are ignored. null for an optional field is the same as leaving it out, unless the field can be null.";

const statusOf = (method: string) => (method === "POST" ? 201 : method === "DELETE" ? 204 : 200);

const SUCCESS = {
  200: "Success.",
  201: "Created.",
  202: "Accepted: the rest is done in the background.",
  204: "Success. The response has no body.",
};

/** Describes the fields of requests, and gives each body a name: a generated client needs one. */
function describeRequests(api: Api, { paths = {}, components }: ReturnType<typeof createDocument>) {
  const operations = references.flatMap(({ [api]: each = {} }) => Object.values(each));
  const documented = Object.values(paths).flatMap((path) => Object.values(path));
  for (const { operationId, request, response } of operations) {
    const content = documented.find((each) => each.operationId === operationId)?.requestBody?.content;
    for (const mediaType of Object.values(content ?? {}) as { schema: object }[]) {
      // Operations may share what zod made of a schema, and describe it differently.
      const schema = structuredClone(mediaType.schema);
      describeFields(schema, request?.fields ?? {}, response?.schema, operationId);
      const name = `${operationId[0]?.toUpperCase()}${operationId.slice(1)}Request`;
      Object.assign(components?.schemas ?? {}, { [name]: schema });
      mediaType.schema = { $ref: `#/components/schemas/${name}` };
    }
  }
}
