import { type Schema, Validator } from "@cfworker/json-schema";
import { describe, expect, it } from "vitest";
import { API_NAMES } from "../../src/reference/apis.ts";
import {
  bodiesOf,
  documentOf,
  examplesOf,
  fieldsOf,
  objectsIn,
  operationsOf,
  resolved,
} from "./support/documents.ts";

/** Whether the text has words, and not only punctuation. */
const isSaid = (text: unknown) => typeof text === "string" && /\w/.test(text);

describe.each(API_NAMES)("The document of the %s API", (api) => {
  const document = documentOf(api);
  const operations = operationsOf(document);

  /** The parts of each operation that need a description or an example. */
  const parts = operations.flatMap((operation) => {
    const { operationId, summary, parameters = [], requestBody, responses } = operation;
    return [
      { where: `${operationId}: summary`, said: summary },
      ...parameters.map((parameter) => ({
        where: `${operationId}: parameter ${parameter.name}`,
        said: parameter.description,
        examples: examplesOf(parameter),
      })),
      ...(requestBody ? [{ where: `${operationId}: request body`, said: requestBody.description }] : []),
      ...Object.entries(responses).flatMap(([status, { description, headers = {} }]) => [
        { where: `${operationId}: ${status}`, said: description },
        ...Object.entries(headers).map(([name, header]) => {
          const { description: said, example } = resolved(document, header);
          return { where: `${operationId}: ${status} ${name}`, said, examples: examplesOf({ example }) };
        }),
      ]),
      ...bodiesOf(operation).map(([where, media]) => ({ where, said: where, examples: examplesOf(media) })),
    ];
  });

  it("describes every operation, parameter, header, body and status", () => {
    expect(operations.length).toBeGreaterThan(0);
    expect(parts.filter(({ said }) => !isSaid(said)).map(({ where }) => where)).toEqual([]);
  });

  it("has an example of every parameter, header and body", () => {
    const bare = parts.filter((part) => "examples" in part && part.examples.length === 0);
    expect(bare.map(({ where }) => where)).toEqual([]);
  });

  it("describes every field of a request or a response", () => {
    const silent = operations.flatMap((operation) =>
      bodiesOf(operation).flatMap(([where, { schema }]) =>
        fieldsOf(document, schema)
          .filter(({ field }) => !isSaid(field.description))
          .map(({ path }) => `${where}: ${path}`),
      ),
    );
    expect(silent).toEqual([]);
  });

  it("has no schema that stops generators, or that is narrower than the service", () => {
    const narrow = [...objectsIn(document)].filter(
      ({ object: { items, prefixItems, format } }) => items === false || prefixItems || format === "email",
    );
    expect(narrow).toEqual([]);
  });

  it("writes large numbers with commas, in descriptions and in errors", () => {
    const texts = [...objectsIn(document)].flatMap(({ object: { description, error } }) =>
      [description, error].filter((text) => typeof text === "string"),
    );
    // Years, names of algorithms, and what is in backticks stay as they are.
    const plain = texts.filter((text) =>
      /(?<![\w.,:/-])(?!(?:19|20)\d\d\b|8601)\d{4,}(?![\w-])/.test(text.replace(/`[^`]*`/g, "")),
    );
    expect(texts.length).toBeGreaterThan(10);
    expect(plain).toEqual([]);
  });

  it("shows every field of a body in an example", () => {
    const unseen = operations.flatMap((operation) =>
      bodiesOf(operation).flatMap(([where, media]) => {
        const seen = new Set(examplesOf(media).flatMap((example) => [...pathsIn(example)]));
        return fieldsOf(document, media.schema)
          .filter(({ path }) => !seen.has(path))
          .map(({ path }) => `${where}: ${path}`);
      }),
    );
    expect(unseen).toEqual([]);
  });

  // Redocly compares all other examples with their schemas: reference.test.ts.
  it("has only examples of headers that match their schemas", () => {
    for (const [name, { schema, example }] of Object.entries(document.components.headers)) {
      const { valid, errors } = new Validator(schema as Schema, "2020-12").validate(example);
      expect(valid, `${name}: ${errors.at(-1)?.error}`).toBe(true);
    }
  });
});

/** The path of every field in a value. The items of a list have the path of the list. */
function* pathsIn(value: unknown, path: string[] = []): Generator<string> {
  if (Array.isArray(value)) for (const item of value) yield* pathsIn(item, path);
  else if (typeof value === "object" && value !== null)
    for (const [name, field] of Object.entries(value)) {
      yield [...path, name].join(".");
      yield* pathsIn(field, [...path, name]);
    }
}
