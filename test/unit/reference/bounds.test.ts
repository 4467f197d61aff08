import { describe, expect, it } from "vitest";
import { bounded } from "../../../src/reference/bounds.ts";

const MAX = Number.MAX_SAFE_INTEGER;

const sent = (schema: object) => bounded({ components: { schemas: { A: schema } } }).components.schemas.A;

const received = (schema: object) =>
  bounded({ components: { schemas: { CreateRequest: schema } } }).components.schemas.CreateRequest;

describe("bounded", () => {
  it("gives each integer a range and a format that fits, but keeps its own range", () => {
    const full = { type: "integer", format: "int64", minimum: 0, maximum: MAX };
    expect(sent({ type: "integer" })).toEqual(full);
    expect(sent({ type: ["integer", "null"], minimum: 1 })).toEqual({
      ...full,
      type: ["integer", "null"],
      minimum: 1,
    });
    const small = { type: "integer", minimum: -(2 ** 31), maximum: 2 ** 31 - 1 };
    expect(sent(small)).toEqual({ ...small, format: "int32" });
    const larger = { ...small, maximum: 2 ** 31 };
    expect(sent(larger)).toEqual({ ...larger, format: "int64" });
    const exclusive = { type: "integer", exclusiveMinimum: 1, exclusiveMaximum: 5 };
    expect(sent(exclusive)).toEqual({ ...exclusive, format: "int64" });
  });

  it("adds neither a minimum to integers in requests nor a length to their timestamps", () => {
    expect(received({ type: "integer" })).toEqual({ type: "integer", format: "int64", maximum: MAX });
    expect(received({ type: "string", format: "date-time" })).toEqual({
      type: "string",
      format: "date-time",
    });
  });

  it("gives strings with a format a maximum length, and leaves others as they are", () => {
    expect(sent({ type: ["string", "null"], format: "date-time" })).toMatchObject({ maxLength: 24 });
    expect(sent({ type: "string", format: "uuid", maxLength: 5 })).toMatchObject({ maxLength: 5 });
    expect(sent({ type: "string" })).toEqual({ type: "string" });
  });

  it("leaves examples, and fields that only look like schemas, as they are", () => {
    const schema = {
      type: "object",
      example: { type: "integer" },
      properties: {
        type: { type: "string" },
        example: { type: "integer", minimum: 1, maximum: 5 },
        format: { const: { type: "integer" } },
      },
    };
    const { properties, ...rest } = schema;
    expect(sent(schema)).toEqual({
      ...rest,
      properties: { ...properties, example: { ...properties.example, format: "int32" } },
    });
  });
});
