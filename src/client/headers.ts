/** What a header carries as it is: fetch would change another text, or throw an error that shows it. */
const CARRIED = /^[!-~](?:[ -~]*[!-~])?$/;

/** @throws TypeError that names the option, and not the value, which may be a secret */
export function headerValue(option: string, value: unknown): string {
  if (typeof value !== "string" || !CARRIED.test(value))
    throw new TypeError(
      `${option}: must be printable ASCII characters, without a space or line break at its ends`,
    );
  return value;
}
