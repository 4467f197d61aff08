/* What `npm run demo` prints. */

export function stop(reason: string): never {
  process.stderr.write(`${reason}\n`);
  process.exit(1);
}

export function chapter(title: string) {
  process.stdout.write(`\n\n━━ ${title} ${"━".repeat(Math.max(0, 100 - title.length))}\n`);
}

export function say(text: string) {
  process.stdout.write(`\n${text}\n`);
}

export function indent(value: object) {
  return `${JSON.stringify(value, null, 2).replace(/^/gm, "    ")}\n`;
}
