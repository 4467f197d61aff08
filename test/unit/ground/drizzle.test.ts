import {
  eq,
  fillPlaceholders,
  getTableColumns,
  noopDecoder,
  Param,
  type SQL,
  Subquery,
  sql,
} from "drizzle-orm";
import { Placeholder } from "drizzle-orm/sql";
import { type SQLiteColumn, unionAll } from "drizzle-orm/sqlite-core";
import { describe, expect, it } from "vitest";
import { calls } from "../../../src/calls/calls/calls.table.ts";
import { legalHolds } from "../../../src/calls/legal_holds/legal_holds.table.ts";
import { coalesce, columnAs, scalar } from "../../../src/database/expressions.ts";
import { insertSelect } from "../../../src/database/insert.ts";
import { builder, compile, decode, type Placeholders, preparedQuery } from "../../../src/database/queries.ts";
import { places } from "../../../src/directory/directory.table.ts";
import { organizationUsers } from "../../../src/organization/members/organization_users.table.ts";
import { organizations } from "../../../src/organization/organizations/organizations.table.ts";

/*
 * The parts of Drizzle's internals that the layer over it uses (see src/database/README.md). If one of these tests fails after
 * an update of Drizzle, its name says what changed.
 */

const { require_acting_user, name, id } = organizations;

/** The text and the parameters of a statement, as Drizzle passes them to its session. */
const builtBy = (statement: unknown) =>
  (statement as { prepare(): { query: { sql: string; params: unknown[] } } }).prepare().query;

describe("Drizzle, when it builds a statement,", () => {
  it("returns its text, parameters and fields from prepare(), without a database", () => {
    const one = () => builder.select({ id }).from(organizations);
    const statements = [
      [one(), 'select "id" from "organizations"'],
      [unionAll(one(), one()), 'select "id" from "organizations" union all select "id" from "organizations"'],
      [builder.delete(organizations).returning({ id }), 'delete from "organizations" returning "id"'],
      [
        builder.insert(places).values({ slug: "clinic", shard: 0 }).returning({ id: places.id }),
        'insert into "places" ("id", "slug", "shard", "deleted_at") values (null, ?, ?, null) returning "id"',
      ],
      [builder.update(organizations).set({ name }).returning({ id }), /^update .* set .* returning "id"$/],
    ] as const;
    for (const [statement, text] of statements)
      expect(compile(statement)).toMatchObject({
        text: typeof text === "string" ? text : expect.stringMatching(text),
        columns: ["id"],
      });
    expect(compile(builder.delete(organizations)).columns).toEqual([]);
  });

  it("writes each parameter as a bare ?, in the order of the list, so that statements can be nested", () => {
    const query = builder
      .select({ id })
      .from(organizations)
      .where(eq(name, new Placeholder("first")))
      .limit(new Placeholder("second"))
      .offset(new Placeholder("third"));
    const { text, bind } = compile(query);
    expect(text).toMatch(/ = \? limit \? offset \?$/);
    expect(bind({ third: 3, second: 2, first: 1 })).toEqual([1, 2, 3]);
  });

  it("leaves a placeholder bare in a condition, but encodes it by its column in VALUES and SET", () => {
    const value = new Placeholder("value");
    const encoded = new Param(value, require_acting_user);
    expect(builtBy(builder.delete(organizations).where(eq(require_acting_user, value))).params).toEqual([
      value,
    ]);
    const set = builder.update(organizations).set({ require_acting_user: value });
    expect(builtBy(set).params).toEqual([encoded]);
    expect(compile(set).bind({ value: true })).toEqual([1]);
    const values = builder
      .insert(organizations)
      .values({ id: 1, name: "", slug: "", require_acting_user: value, created_at: 1, updated_at: 1 });
    expect(builtBy(values).params).toContainEqual(encoded);
  });

  it("would encode null by its column, which changes the value, so `bind` does not let it", () => {
    const update = builder.update(organizations).set({ require_acting_user: new Placeholder("value") });
    expect(fillPlaceholders(builtBy(update).params, { value: null })).toEqual([0]);
    expect(compile(update).bind({ value: null })).toEqual([null]);
  });

  it("inserts a raw SQL SELECT into all columns that SQLite does not compute", () => {
    const insert = insertSelect(
      places,
      { slug: "clinic", shard: 0, deleted_at: null },
      { where: sql`${1} = ${1}` },
    );
    expect(compile(insert).text).toBe(
      'insert into "places" ("id", "slug", "shard", "deleted_at") select ?, ?, ?, ?  where ? = ?',
    );
    expect(getTableColumns(places).slug_stem.generated).toBeDefined();
  });

  it("strips the table from a selected column, but not inside a nested query", () => {
    const holds = builder
      .select({ id: legalHolds.id })
      .from(legalHolds)
      .where(eq(legalHolds.call_id, calls.id));
    const selection = { call_id: columnAs(calls.id, "call_id"), hold_id: scalar(holds).as("hold_id") };
    expect(compile(builder.select(selection).from(calls)).text).toBe(
      'select "id" as "call_id", (select "id" from "legal_holds" where "legal_holds"."call_id" = "calls"."id") as "hold_id" from "calls"',
    );
  });

  it("writes a value into the text after inlineParams(), with its quotes doubled", () => {
    const { text, bind } = compile(
      builder.select({ value: coalesce(name, "it's").as("value") }).from(organizations),
    );
    expect(text).toBe(`select coalesce("organizations"."name", 'it''s') as "value" from "organizations"`);
    expect(bind({})).toEqual([]);
  });

  it("takes a table's columns from a hand-made Subquery with the table's name", () => {
    const some = new Subquery(
      sql`select * from ${organizations}`,
      getTableColumns(organizations),
      "organizations",
    );
    expect(compile(builder.select({ id }).from(some).orderBy(id)).text).toBe(
      'select "id" from (select * from "organizations") "organizations" order by "organizations"."id"',
    );
  });

  it("counts within a statement with $count, and runs no query before it is awaited", () => {
    const total = builder.$count(organizations, eq(name, "Clinic"));
    expect(compile(builder.select({ total: total.as("total") }).from(places)).text).toBe(
      'select (select count(*) from "organizations" where "organizations"."name" = ?) as "total" from "places"',
    );
  });
});

describe("Drizzle, when it reads a row,", () => {
  const identity = (column: SQLiteColumn) => column.mapFromDriverValue("as it is") === "as it is";

  it("decodes by column: only booleans and JSON are stored as other values", () => {
    expect([id, name].map(identity)).toEqual([true, true]);
    expect(compile(builder.select({ id, name }).from(organizations)).decoders).toEqual([]);
    const query = preparedQuery((_: Placeholders<object>) =>
      builder.select({ roles: organizationUsers.roles }).from(organizationUsers),
    );
    expect(decode(query({}), [{ roles: '["provider"]' }])).toEqual([{ roles: ["provider"] }]);
  });

  it("keeps the decoder of an expression in `decoder`: `noopDecoder` without mapWith()", () => {
    const decoderOf = (expression: SQL) => (expression as unknown as { decoder: unknown }).decoder;
    expect(decoderOf(sql`1`)).toBe(noopDecoder);
    expect(decoderOf(sql`1`.mapWith(require_acting_user))).toBe(require_acting_user);
    const flag = { flag: sql`1`.mapWith(Boolean).as("flag") };
    const query = preparedQuery((_: Placeholders<object>) => builder.select(flag).from(organizations));
    expect(decode(query({}), [{ flag: 1 }, { flag: null }])).toEqual([{ flag: true }, { flag: null }]);
  });
});

describe("A prepared query", () => {
  it("is refused if D1 would merge or rename its columns", () => {
    const both = { id: calls.id, organization_id: organizations.id };
    expect(() => compile(builder.select(both).from(calls).crossJoin(organizations))).toThrow(
      "The column organization_id must be selected under this name: alias it",
    );
    expect(() => compile(builder.select({ one: sql`1` }).from(calls))).toThrow("alias it");
  });

  it("is refused if its placeholders are spread or a value is missing", () => {
    const spread = preparedQuery((values: Placeholders<{ id: number }>) =>
      builder.select({ ...values, id }).from(organizations),
    );
    expect(() => spread({ id: 1 })).toThrow("they cannot be spread");
    const query = preparedQuery((values: Placeholders<{ id?: number }>) =>
      builder
        .select({ id })
        .from(organizations)
        .where(eq(id, values.id as Placeholder)),
    );
    expect(() => query({})).toThrow("The query wants a value for id");
  });
});
