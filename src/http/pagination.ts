import * as z from "zod";
import { DEFAULT_PER_PAGE, MAX_INTEGER_LENGTH, MAX_PAGE, MAX_PER_PAGE, MAX_SKIPPED } from "../limits.ts";
import { grouped } from "../units.ts";
import { invalidQuery } from "./errors.ts";
import { reference, shownAsInteger } from "./wire.ts";

/** Leading zeros are accepted. */
const pageNumber = () => reference(MAX_INTEGER_LENGTH).regex(/^0*[1-9]\d*$/, "must be a positive integer");

export const pageQuery = () =>
  z.object({
    page: pageNumber()
      .transform(Number)
      .refine((page) => page <= MAX_PAGE, `must be at most ${MAX_PAGE}`)
      .default(1)
      .meta(shownAsInteger(1, { maximum: MAX_PAGE, default: 1 })),
    per_page: pageNumber()
      .transform((perPage) => Math.min(Number(perPage), MAX_PER_PAGE))
      .default(DEFAULT_PER_PAGE)
      .meta(shownAsInteger(1, { default: DEFAULT_PER_PAGE })),
  });

/** For the contract's lists without a pagination envelope. Without `per_page`, the list is a single page. */
export const onePageQuery = () => {
  const { page, per_page } = pageQuery().shape;
  return z.object({ page, per_page: per_page.unwrap().optional().meta(shownAsInteger(1)) });
};

export const itemsOfPage = <Item>(
  items: Item[],
  { page, per_page = items.length }: z.output<ReturnType<typeof onePageQuery>>,
): Item[] => items.slice((page - 1) * per_page, page * per_page);

const afterId = () =>
  reference(MAX_INTEGER_LENGTH)
    .regex(/^\d+$/, "must be a non-negative integer")
    .transform((digits) => Math.min(Number(digits), Number.MAX_SAFE_INTEGER))
    .default(0)
    .meta(shownAsInteger(0, { default: 0 }));

export const afterQuery = () => z.object({ after: afterId(), per_page: pageQuery().shape.per_page });

export type AfterQuery = z.output<ReturnType<typeof afterQuery>>;

/* Lists ordered by time continue after a position: a time and an id. It is opaque to the caller. */

export const POSITION = /^-?\d{1,15}\.\d{1,16}$/;

export const MAX_POSITION_LENGTH = 33;

const NO_POSITION = "must be the `next_after` of a response";

export interface Position {
  time: number;
  id: number;
}

export const afterPositionQuery = () =>
  z.object({
    after: reference(MAX_POSITION_LENGTH).regex(POSITION, NO_POSITION).transform(readPosition).optional(),
    per_page: pageQuery().shape.per_page,
  });

function readPosition(text: string): Position {
  const [time, id] = text.split(".").map(Number);
  return { time, id } as Position;
}

export const writePosition = ({ time, id }: Position): string => `${time}.${id}`;

export type PageQuery = z.output<ReturnType<typeof pageQuery>>;

export interface Page<Row> {
  items: Row[];
  pagination: { current_page: number; per_page: number; total_pages: number; total_count: number };
}

export interface PageWindow {
  limit: number;
  offset: number;
}

/** Reads nothing for a page that is too deep, because SQLite reads the rows that it skips. */
export function pageWindow({ page, per_page }: PageQuery): PageWindow {
  const offset = (page - 1) * per_page;
  return offset < MAX_SKIPPED ? { limit: per_page, offset } : { limit: 0, offset: 0 };
}

/** @throws ApiError 400 if the page exists but was not read, because it is too deep */
export function toPage<Row>({ page, per_page }: PageQuery, total_count: number, items: Row[]): Page<Row> {
  const offset = (page - 1) * per_page;
  if (offset >= MAX_SKIPPED && offset < total_count)
    throw invalidQuery(`page: must be at most ${grouped(Math.ceil(MAX_SKIPPED / per_page))}`);
  const total_pages = Math.ceil(total_count / per_page);
  return { items, pagination: { current_page: page, per_page, total_pages, total_count } };
}
