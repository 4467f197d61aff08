import * as z from "zod";
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from "zod-openapi";
import { app } from "../app.ts";
import type { Input } from "../http/validation.ts";
import { MAX_IDEMPOTENCY_KEY_LENGTH } from "../limits.ts";
import { DOORS, type Door } from "./doors.ts";
import { introductionOf } from "./info.ts";
import type { Operation, WebhookReference } from "./operation.ts";
import { parameterDescriptions, references } from "./references.ts";
import { simplify } from "./rendering.ts";

const errorSchema = z.object({ error: z.string() }).meta({
  id: "Error",
  description: "Why the request was refused, and what would be right.",
});

/** The OpenAPI 3.1 document of a door: its registered routes, each with what the references say about it. */
export function buildDocument(door: Door) {
  const { security, securitySchemes } = DOORS[door];
  for (const { schemas = {} } of references)
    for (const [id, { schema, description }] of Object.entries(schemas))
      z.globalRegistry.add(schema, { id, description });
  const document = createDocument({
    openapi: "3.1.1",
    ...introductionOf(door),
    security: [security],
    tags: references
      .filter((each) => each[door] || each.webhooks)
      .map(({ tag, description }) => ({ name: tag, description })),
    paths: pathsOf(door),
    webhooks: webhooks(),
    components: { securitySchemes },
  });
  describeFields(document.components?.schemas ?? {});
  return simplify(document) as typeof document;
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

function pathsOf(door: Door): ZodOpenApiPathsObject {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  const described = new Map(
    references.flatMap(({ tag, [door]: operations = {} }) =>
      Object.entries(operations).map(([route, operation]) => [route, { tag, operation }] as const),
    ),
  );
  for (const [route, inputs] of routesOf(door)) {
    const reference = described.get(route);
    if (!reference) throw new Error(`No reference describes ${route} of the ${door} door`);
    described.delete(route);
    const [method = "", pattern = ""] = route.split(" ");
    const path = pattern.replace(/:(\w+)/g, "{$1}");
    paths[path] ??= {};
    paths[path][method.toLowerCase()] = operationObject(door, inputs, reference.tag, reference.operation);
  }
  if (described.size > 0)
    throw new Error(`References describe routes that do not exist: ${[...described.keys()].join(", ")}`);
  return paths;
}

function webhooks(): ZodOpenApiPathsObject {
  const all = references.flatMap(({ tag, webhooks = {} }) =>
    Object.entries(webhooks).map(([type, webhook]) => [type, { post: webhookObject(tag, webhook) }] as const),
  );
  return Object.fromEntries(all);
}

function webhookObject(tag: string, webhook: WebhookReference): ZodOpenApiOperationObject {
  const { operationId, summary, description, schema, example } = webhook;
  schema.parse(example);
  return {
    operationId,
    summary,
    description,
    tags: [tag],
    security: [],
    parameters: Object.entries(WEBHOOK_HEADERS).map(([name, description]) => ({
      name,
      in: "header" as const,
      required: true,
      description,
      schema: { type: "string" as const },
    })),
    requestBody: { required: true, content: { "application/json": { schema, example } } },
    responses: {
      "2XX": { description: "The webhook has arrived. The body of the response is ignored." },
      410: { description: "The endpoint wants no more webhooks: it becomes inactive." },
      default: { description: "The webhook is sent again later." },
    },
  };
}

const WEBHOOK_HEADERS = {
  "webhook-id": "The same whenever this is sent: drop what has an id that you know.",
  "webhook-timestamp": "When it is sent, in seconds since 1970.",
  "webhook-signature":
    "`v1,` and a signature in base64; several are separated by spaces. See Standard Webhooks.",
};

function operationObject(
  door: Door,
  inputs: Input[],
  tag: string,
  operation: Operation,
): ZodOpenApiOperationObject {
  const schemaOf = (target: Input["target"]) => inputs.find((input) => input.target === target)?.schema;
  const [query, param, json] = [schemaOf("query"), schemaOf("param"), schemaOf("json")];
  const header = schemaOf("header");
  const { operationId, summary, description, status, response, requestExample } = operation;
  const body = json ? { schema: json, mediaType: JSON_TYPE, example: requestExample } : operation.body;
  if (body) body.schema.parse(body.example);
  if (response) response.schema.parse(response.example);
  return {
    operationId,
    summary,
    ...(description ? { description } : {}),
    tags: [tag],
    requestParams: {
      ...(param ? { path: described(param) } : {}),
      ...(query ? { query: described(query) } : {}),
      ...(header ? { header: described(header) } : {}),
    },
    ...(body
      ? {
          requestBody: {
            required: true,
            content: { [body.mediaType]: { schema: body.schema, example: body.example } },
          },
        }
      : {}),
    responses: {
      [status]: {
        description: SUCCESS[status],
        headers: headersOf({
          ...commonHeaders(door),
          // A response with a secret is not stored, so it is never a replay.
          ...(header && !operation.refusals?.[409] ? REPLAYED : {}),
          ...operation.headers,
        }),
        ...(response
          ? { content: { [JSON_TYPE]: { schema: response.schema, example: response.example } } }
          : {}),
      },
      ...refusalsOf(door, { query, param, json, header }, operation),
    },
  };
}

const JSON_TYPE = "application/json";

const COMMON_HEADERS = {
  "X-Request-Id": "The id of the request in the service's log.",
  "X-D1-Bookmark":
    "The state of the database that the response is based on. A GET that sends this header back sees at least this state.",
};

const POLICY = {
  "RateLimit-Policy":
    "How many requests (`q`) are served in how many seconds (`w`), as in draft-ietf-httpapi-ratelimit-headers.",
};

/** Only API clients have a limit for all of their requests. */
const commonHeaders = (door: Door) =>
  door === "external" ? { ...COMMON_HEADERS, ...POLICY } : COMMON_HEADERS;

const REPLAYED = {
  "Idempotent-Replayed":
    "`true` if the request was carried out before: this is the first response again. Otherwise it is absent.",
};

const RETRY_AFTER = { "Retry-After": "Try again after this number of seconds." };

const BEYOND_LIMIT = {
  ...RETRY_AFTER,
  ...POLICY,
  RateLimit: "No request is left (`r`), for at most so many seconds (`t`).",
};

const headersOf = (headers: Record<string, string>) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [
      name,
      { description, schema: { type: "string" as const } },
    ]),
  );

const SUCCESS = { 200: "Success.", 201: "Created.", 204: "Success. The response has no body." };

/** Parameters, each with its description from the references. */
function described(schema: z.ZodType) {
  if (!(schema instanceof z.ZodObject)) throw new Error("Parameters are described by an object");
  return z.object(
    Object.fromEntries(
      Object.entries(schema.shape as Record<string, z.ZodType>).map(([name, field]) => {
        const description = parameterDescriptions[name];
        if (!description) throw new Error(`No description of the parameter ${name}`);
        return [name, field.meta({ ...field.meta(), description })];
      }),
    ),
  );
}

/** The refusals that are common to such requests, and the operation's own. */
function refusalsOf(
  door: Door,
  { query, param, json, header }: Partial<Record<Input["target"], z.ZodType | undefined>>,
  { refusals = {}, body }: Operation,
) {
  const takesJson = json ?? body;
  const badRequest = [
    takesJson && "The body is not JSON.",
    query && "A query parameter is not valid.",
    header && `The \`Idempotency-Key\` does not have 1 to ${MAX_IDEMPOTENCY_KEY_LENGTH} characters.`,
  ].filter(Boolean);
  const all: Record<number, string | undefined> = {
    400: badRequest.join(" ") || undefined,
    401: [DOORS[door].unauthorized, refusals[401]].filter(Boolean).join(" "),
    404: refusals[404] ?? (param && DOORS[door].missing),
    409: refusals[409],
    413: takesJson && "The body is too large.",
    415: takesJson && "The `Content-Type` is not JSON.",
    422:
      [
        json && "The body does not match its schema.",
        refusals[422],
        header && "The `Idempotency-Key` was used for another request.",
      ]
        .filter(Boolean)
        .join(" ") || undefined,
    429: DOORS[door].tooMany,
    500: "An internal error of the service.",
    503: refusals[503],
  };
  return Object.fromEntries(
    Object.entries(all)
      .filter(([, description]) => description)
      .map(([status, description]) => [
        status,
        {
          description,
          headers: headersOf({ ...commonHeaders(door), ...MORE_HEADERS[status] }),
          content: { [JSON_TYPE]: { schema: errorSchema } },
        },
      ]),
  );
}

const MORE_HEADERS: Record<string, Record<string, string>> = { 429: BEYOND_LIMIT, 503: RETRY_AFTER };

function describeFields(components: Record<string, unknown>) {
  for (const { schemas = {} } of references)
    for (const [id, { fields }] of Object.entries(schemas)) {
      const { properties = {} } = (components[id] ?? {}) as { properties?: Record<string, object> };
      for (const [name, property] of Object.entries(properties)) {
        const description = fields[name];
        if (!description) throw new Error(`No description of ${id}.${name}`);
        Object.assign(property, { description });
      }
    }
}
