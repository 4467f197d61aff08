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

/** A fold for each named object in a response, and for the objects whose fields it has. */
export const foldsOf = (schema: Schema, document: Linked): string[] => {
  const names = [...namesIn(schema, document)].flatMap((name) => [name, ...basesOf(name, document)]);
  return [...new Set(names)].map((name) => foldOf(`\`${name}\``, document.links.get(name) ?? ""));
};

const propertiesOf = (name: string, document: Linked) => document.components.schemas[name]?.properties ?? {};

/** The object described earlier that has the most fields in common, if most of its fields are the same. */
function basesOf(name: string, document: Linked): string[] {
  const own = propertiesOf(name, document);
  const isSame = ([field, value]: [string, Schema]) => JSON.stringify(own[field]) === JSON.stringify(value);
  const names = [...document.links.keys()];
  return names
    .slice(0, names.indexOf(name))
    .map((each) => ({ each, fields: Object.entries(propertiesOf(each, document)) }))
    .map(({ each, fields }) => ({ each, size: fields.length, common: fields.filter(isSame).length }))
    .filter(({ size, common }) => common > 2 && common > size / 2)
    .sort((a, b) => b.common - a.common)
    .slice(0, 1)
    .map(({ each }) => each);
}

/** A section for each named object whose place is the page. */
export const sectionsOn = (page: string, document: Linked): string[] =>
  [...document.links]
    .filter(([name, place]) => place.startsWith(`${page}#`) && name in document.components.schemas)
    .map(([name]) => {
      const schema = resolved({ $ref: name }, document);
      const [base] = basesOf(name, document);
      const known = base ? propertiesOf(base, document) : {};
      const properties = propertiesOf(name, document);
      const differing = Object.entries(properties).filter(
        ([field, value]) => JSON.stringify(value) !== JSON.stringify(known[field]),
      );
      return paragraphs([
        `## ${name}`,
        schema.description,
        base &&
          sameFields(
            base,
            Object.keys(known).filter((field) => !(field in properties)),
            document,
          ),
        fieldsOf({ ...schema, properties: Object.fromEntries(differing) }, document, "received").join("\n"),
      ]);
    });

function sameFields(base: string, missing: string[], { links }: Linked): string {
  const except = missing.length > 0 ? `, except ${missing.map((field) => `\`${field}\``).join(", ")}` : "";
  return `It has the fields of [\`${base}\`](${links.get(base)})${except}. In addition or instead:`;
}
