/* Times are in milliseconds, sizes in bytes. */

export const KIB = 1024;
export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** A number as texts show it: `100,000`. */
export const grouped = (number: number): string => String(number).replace(/\B(?=(\d{3})+$)/g, ",");
