import * as z from "zod";
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from "zod-openapi";
import { actingHeaders } from "../http/acting_user.ts";
import type { PartToken } from "../http/platform_tokens.ts";
import { IF_MATCH } from "../http/preconditions.ts";
import { ETAG, type Operation, type Reference } from "../openapi/operation.ts";
import { KIB } from "../units.ts";
import { APIS, type Api } from "./apis.ts";
import { bounded } from "./bounds.ts";
import { exampleFields, requestOf, requireExamplesToMatch } from "./examples.ts";
import { describeFields } from "./fields.ts";
import { commonHeaders, headersOf, REPLAYED, sharedHeaders } from "./headers.ts";
import { introductionOf } from "./info.ts";
import { bookmarkParameter, described, ifMatchParameter } from "./parameters.ts";
import { GROUPED_REFERENCES, operationsOf, references } from "./references.ts";
import { COSTLY, hasError, refusalsOf } from "./refusals.ts";
import { inputOf, type Route, routesOf } from "./routes.ts";
import { simplify } from "./simplify.ts";
import { webhooks } from "./webhooks.ts";

const isShown = (api: Api, reference: Reference) =>
  reference[api] !== undefined || (api === "external" && reference.webhooks !== undefined);

/** Groups the tags, with an extension that many renderers of OpenAPI know. */
const groupsOf = (api: Api) =>
  Object.entries(GROUPED_REFERENCES)
    .map(([name, all]) => ({ name, tags: all.filter((each) => isShown(api, each)).map(({ tag }) => tag) }))
    .filter(({ tags }) => tags.length > 0);

/** The OpenAPI 3.1 document of an API: its registered routes with their descriptions from the references. */
export function buildDocument(api: Api) {
  const { security, securitySchemes } = APIS[api];
  const document = createDocument({
    openapi: "3.1.1",
    ...introductionOf(api),
    security: [security],
    tags: references
      .filter((each) => isShown(api, each))
      .map(({ tag, description }) => ({ name: tag, description })),
    "x-tagGroups": groupsOf(api),
    paths: pathsOf(api),
    ...(api === "external" ? { webhooks: webhooks() } : {}),
    components: { securitySchemes, headers: sharedHeaders(api) },
  });
  describeRequests(api, document);
  return bounded(simplify(document)) as typeof document;
}

/**
 * The paths in the order of the references.
 *
 * @throws Error if a route has no reference, or a reference no route
 */
function pathsOf(api: Api): ZodOpenApiPathsObject {
  const paths: Record<string, Record<string, ZodOpenApiOperationObject>> = {};
  const routes = routesOf(api);
  for (const { tag, parameters, [api]: operations = {} } of references)
    for (const [route, own] of Object.entries(operations)) {
      const operation = { ...own, parameters: { ...parameters, ...own.parameters } };
      const known = routes.get(route);
      if (!known) throw new Error(`A reference describes ${route} of the ${api} api, which does not exist`);
      if (api === "external" && known.scope === undefined) throw new Error(`${route} declares no area`);
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
  const query = inputOf(route, "query");
  const path = inputOf(route, "param");
  const json = inputOf(route, "json");
  const header = inputOf(route, "header");
  const { operationId, summary, description, parameters, response, alternatives } = operation;
  // An operation that is recorded only in some cases says so itself.
  const isSilent = route.isRecorded && !description?.includes("access log");
  const isOptional = route.inputs.some((input) => input.isOptional);
  const status = operation.status ?? statusOf(method);
  const answers = Object.entries({ ...(response ? { [JSON_TYPE]: response } : {}), ...alternatives });
  const body = json ? { mediaType: JSON_TYPE, ...requestOf(operation, json) } : operation.body;
  if (body) requireExamplesToMatch(`${operationId}, request`, body);
  for (const [, answer] of answers) requireExamplesToMatch(`${operationId}, response`, answer);
  return {
    operationId,
    summary,
    description: [description, isSilent && RECORDED].filter(Boolean).join(" "),
    tags: [tag],
    ...extensionsOf(route),
    security: securityOf(api, route),
    requestParams: {
      ...(path ? { path: described(path, parameters) } : {}),
      ...(query ? { query: described(query, parameters) } : {}),
      header: z.object({
        ...(header ? described(header, parameters).shape : {}),
        ...(method === "GET" ? { "X-D1-Bookmark": bookmarkParameter } : {}),
        ...(route.isConditional ? { [IF_MATCH]: ifMatchParameter } : {}),
        ...(api === "external" ? described(actingHeaders()).shape : {}),
      }),
    },
    ...(body
      ? {
          requestBody: {
            required: !isOptional,
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
          // A response with a secret is never stored, so it is never replayed.
          ...(header && !hasError(operation, 409) ? REPLAYED : {}),
          ...(route.isConditional && method !== "DELETE" ? ETAG : {}),
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

/** Lists the scope as a role of the security scheme (OpenAPI 3.1), and each token as an alternative. */
function securityOf(api: Api, { scope, tokens = [] }: Route): Record<string, string[]>[] {
  const { security } = APIS[api];
  if (scope) return [{ ...security, clientId: [scope] }];
  return [security, ...tokens.map((token) => ({ [SCHEMES[token]]: [] }))];
}

const SCHEMES: Record<PartToken, keyof (typeof APIS)["platform"]["securitySchemes"]> = {
  PLATFORM_REPORTS_TOKEN: "reportsToken",
  PLATFORM_WEB_APP_TOKEN: "webAppToken",
};

/** OpenAPI has no keyword for the roles of which the client's user needs one, or for the operation's own limits. */
function extensionsOf({ roles = [], inputs, limited }: Route) {
  const size = inputs.find(({ target }) => target === "json")?.limit;
  const limits = [
    ...(limited ? [`${COSTLY[limited].limit} ${COSTLY[limited].text} a minute for each organization`] : []),
    ...(size ? [`a body of ${size < MIB ? `${size / KIB} KiB` : `${size / MIB} MiB`}`] : []),
  ];
  return {
    ...(roles.length > 0 && { "x-required-roles": roles }),
    ...(limits.length > 0 && { "x-limits": limits }),
  };
}

const MIB = KIB * KIB;

const RECORDED = "The access log records each read.";

const JSON_TYPE = "application/json";

const REQUEST_BODY =
  "JSON. Unknown keys are ignored. Setting an optional field to null is the same as leaving it out, unless the field can be null.";

const statusOf = (method: string) => (method === "POST" ? 201 : method === "DELETE" ? 204 : 200);

const SUCCESS = {
  200: "Success.",
  201: "Created.",
  202: "Accepted. The service completes the request in the background.",
  204: "Success. The response has no body.",
};

/** Describes the fields of request bodies, and gives each body a name, which generated clients need. */
function describeRequests(api: Api, { paths = {}, components }: ReturnType<typeof createDocument>) {
  const documented = Object.values(paths).flatMap((path) => Object.values(path));
  for (const [, { operationId, request, response }] of operationsOf(api)) {
    const content = documented.find((each) => each.operationId === operationId)?.requestBody?.content;
    for (const mediaType of Object.values(content ?? {}) as { schema: object }[]) {
      // Several operations may share a schema object, but describe its fields differently.
      const schema = structuredClone(mediaType.schema);
      describeFields(schema, request?.fields ?? {}, response?.schema, operationId);
      const name = `${operationId[0]?.toUpperCase()}${operationId.slice(1)}Request`;
      Object.assign(components?.schemas ?? {}, { [name]: schema });
      mediaType.schema = { $ref: `#/components/schemas/${name}` };
    }
  }
}
