/** Zones with and without changes of the clock, in both hemispheres, with offsets of whole, half and quarter hours. */
export const TIME_ZONES = [
  "UTC",
  "Europe/Berlin",
  "Europe/Dublin",
  "America/New_York",
  "America/St_Johns",
  "America/Santiago",
  "Africa/Casablanca",
  "Asia/Kathmandu",
  "Asia/Kolkata",
  "Australia/Lord_Howe",
  "Pacific/Chatham",
  "Pacific/Kiritimati",
];

const formats = new Map<string, Intl.DateTimeFormat>();

/** The local date, `YYYY-MM-DD`. */
export function dateIn(timeZone: string, time: number): string {
  const format = formats.get(timeZone) ?? new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short" });
  formats.set(timeZone, format);
  return format.format(time);
}
