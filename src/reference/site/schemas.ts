import type { Api } from "../apis.ts";
import { slugOf } from "./assets/words.js";
import { fieldsOf } from "./fields.ts";
import { type Document, isSuccess, type Linked, nameIn, resolved, type Schema } from "./openapi.ts";
import { foldOf, paragraphs } from "./pages.ts";

export const everyOperation = (api: Api) => `/${api}/reference/every-operation`;

export const folderOf = (api: Api, tag: string) => `/${api}/reference/${slugOf(tag)}`;

/**
 * Gives each named object that responses contain a place: the page of the first resource that returns it, or the page of the
 * external API if the object is the same there.
 */
export function linked(api: Api, document: Document, external: Document): Linked {
  const known = api === "external" ? new Map<string, string>() : linked("external", external, external).links;
  const isSame = (name: string) =>
    JSON.stringify(document.components.schemas[name]) === JSON.stringify(external.components.schemas[name]);
  const links = new Map([...known].filter(([name]) => isSame(name)));
  if (!links.has("Pagination")) links.set("Pagination", `${everyOperation(api)}#pagination`);
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  for (const { name: tag } of document.tags)
    for (const { responses } of operations.filter(({ tags }) => tags.includes(tag)))
      for (const [, { content = {} }] of Object.entries(responses).filter(isSuccess))
        for (const { schema } of Object.values(content))
          for (const name of namesIn(schema, document))
            if (!links.has(name)) links.set(name, `${folderOf(api, tag)}#${slugOf(name)}`);
  return { ...document, links };
}

/** The names of the objects in a schema, each before those inside it. */
function namesIn(schema: Schema, document: Document, known = new Set<string>()): Set<string> {
  const itself = resolved(schema, document);
  if (schema.$ref && itself.type === "object") {
    if (known.has(nameIn(schema.$ref))) return known;
    known.add(nameIn(schema.$ref));
  }
  const { items, anyOf = [], properties = {}, additionalProperties: values } = itself;
  for (const each of [items, values || undefined, ...anyOf, ...Object.values(properties)])
    if (each) namesIn(each, document, known);
  return known;
}

/** A fold for each named object in a response. */
export const foldsOf = (schema: Schema, document: Linked): string[] =>
  [...namesIn(schema, document)].map((name) => foldOf(`\`${name}\``, document.links.get(name) ?? ""));

/** A section for each named object whose place is the page. */
export const sectionsOn = (page: string, document: Linked): string[] =>
  [...document.links]
    .filter(([name, place]) => place.startsWith(`${page}#`) && name in document.components.schemas)
    .map(([name]) => {
      const schema = resolved({ $ref: name }, document);
      return paragraphs([
        `## ${name}`,
        schema.description,
        fieldsOf(schema, document, "received").join("\n"),
      ]);
    });
