/** Values that fetch sends unchanged. It would trim others, or throw an error that shows the value. */
const CARRIED = /^[!-~](?:[ -~]*[!-~])?$/;

/** @throws TypeError that names the option but not the value, which may be a secret */
export function headerValue(option: string, value: unknown): string {
  if (typeof value !== "string" || !CARRIED.test(value))
    throw new TypeError(
      `${option}: must be printable ASCII characters, without a space or line break at its ends`,
    );
  return value;
}
