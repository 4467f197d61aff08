import * as z from "zod";
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from "zod-openapi";
import { app } from "../app.ts";
import type { Input } from "../http/validation.ts";
import { bounded } from "./bounds.ts";
import { DOORS, type Door } from "./doors.ts";
import { exampleFields, requireExamplesToMatch } from "./examples.ts";
import { describeFields } from "./fields.ts";
import { commonHeaders, headersOf, REPLAYED, sharedHeaders } from "./headers.ts";
import { introductionOf } from "./info.ts";
import type { Operation } from "./operation.ts";
import { bookmarkParameter, described } from "./parameters.ts";
import { references } from "./references.ts";
import { refusalsOf } from "./refusals.ts";
import { simplify } from "./rendering.ts";
import { webhooks } from "./webhooks.ts";

/** The OpenAPI 3.1 document of a door: its registered routes, each with what the references say about it. */
export function buildDocument(door: Door) {
  const { security, securitySchemes } = DOORS[door];
  const document = createDocument({
    openapi: "3.1.1",
    ...introductionOf(door),
    security: [security],
    tags: references
      .filter((each) => each[door] || (door === "external" && each.webhooks))
      .map(({ tag, description }) => ({ name: tag, description })),
    paths: pathsOf(door),
    ...(door === "external" ? { webhooks: webhooks() } : {}),
    components: { securitySchemes, headers: sharedHeaders(door) },
  });
  describeRequests(door, document);
  return bounded(simplify(document)) as typeof document;
}

/** Method and pattern of each route behind a door, with the input that its middleware validates. */
export function routesOf(door: Door): Map<string, Input[]> {
  const routes = new Map<string, Input[]>();
  for (const { method, path, handler } of app.routes) {
    if (method === "ALL" || !path.startsWith(`/api/${door}/`)) continue;
    const route = `${method} ${path.slice(`/api/${door}`.length)}`;
    const inputs = routes.get(route) ?? [];
    if ("input" in handler) inputs.push(handler.input as Input);
    routes.set(route, inputs);
  }
  return routes;
}

/** In the order of the references. */
function pathsOf(door: Door): ZodOpenApiPathsObject {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  const routes = routesOf(door);
  for (const { tag, [door]: operations = {} } of references)
    for (const [route, operation] of Object.entries(operations)) {
      const inputs = routes.get(route);
      if (!inputs)
        throw new Error(`A reference describes ${route} of the ${door} door, which does not exist`);
      routes.delete(route);
      const [method = "", pattern = ""] = route.split(" ");
      const path = pattern.replace(/:(\w+)/g, "{$1}");
      paths[path] ??= {};
      paths[path][method.toLowerCase()] = operationObject(door, method, inputs, tag, operation);
    }
  if (routes.size > 0)
    throw new Error(`No reference describes ${[...routes.keys()].join(", ")} of the ${door} door`);
  return paths;
}

function operationObject(
  door: Door,
  method: string,
  inputs: Input[],
  tag: string,
  operation: Operation,
): ZodOpenApiOperationObject {
  const schemaOf = (target: Input["target"]) => inputs.find((input) => input.target === target)?.schema;
  const [query, path, json, header] = [
    schemaOf("query"),
    schemaOf("param"),
    schemaOf("json"),
    schemaOf("header"),
  ];
  const { operationId, summary, description, status, parameters, response } = operation;
  const body = json ? { schema: json, mediaType: JSON_TYPE, ...requestExamples(operation) } : operation.body;
  if (body) requireExamplesToMatch(`${operationId}, request`, body);
  if (response) requireExamplesToMatch(`${operationId}, response`, response);
  return {
    operationId,
    summary,
    ...(description ? { description } : {}),
    tags: [tag],
    requestParams: {
      ...(path ? { path: described(path, parameters) } : {}),
      ...(query ? { query: described(query, parameters) } : {}),
      ...(header ? { header: described(header, parameters) } : {}),
      ...(method === "GET" ? { header: z.object({ "X-D1-Bookmark": bookmarkParameter }) } : {}),
    },
    ...(body
      ? {
          requestBody: {
            required: true,
            description: "JSON. Keys that are not described here are ignored.",
            content: { [body.mediaType]: { schema: body.schema, ...exampleFields(body) } },
          },
        }
      : {}),
    responses: {
      [status]: {
        description: SUCCESS[status],
        headers: headersOf(door, {
          ...commonHeaders(door),
          // A response with a secret is not stored, so it is never a replay.
          ...(header && !operation.errors?.[409] ? REPLAYED : {}),
          ...operation.headers,
        }),
        ...(response
          ? { content: { [JSON_TYPE]: { schema: response.schema, ...exampleFields(response) } } }
          : {}),
      },
      ...refusalsOf(door, method, inputs, operation),
    },
  };
}

function requestExamples({ operationId, request }: Operation) {
  if (!request) throw new Error(`${operationId} takes a body, and its reference has no example of one`);
  return request;
}

const JSON_TYPE = "application/json";

const SUCCESS = { 200: "Success.", 201: "Created.", 204: "Success. The response has no body." };

/** Describes the fields of requests, and gives each body a name: a generated client needs one. */
function describeRequests(door: Door, { paths = {}, components }: ReturnType<typeof createDocument>) {
  const operations = references.flatMap(({ [door]: each = {} }) => Object.values(each));
  const documented = Object.values(paths).flatMap((path) => Object.values(path));
  for (const { operationId, request } of operations) {
    const content = documented.find((each) => each.operationId === operationId)?.requestBody?.content;
    for (const mediaType of Object.values(content ?? {}) as { schema: object }[]) {
      // Operations may share what zod made of a schema, and describe it differently.
      const schema = structuredClone(mediaType.schema);
      describeFields(schema, request?.fields ?? {}, operationId);
      const name = `${operationId[0]?.toUpperCase()}${operationId.slice(1)}Request`;
      Object.assign(components?.schemas ?? {}, { [name]: schema });
      mediaType.schema = { $ref: `#/components/schemas/${name}` };
    }
  }
}
