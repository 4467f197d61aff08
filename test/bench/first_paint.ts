/**
 * `node test/bench/first_paint.ts`: measures when a phone first shows part of a page of the reference. Chromium
 * simulates 1.6 Mbit/s, 150 ms to the server and a CPU that is four times slower. Pages are compressed, as at
 * Cloudflare. Prints the times, and writes nothing.
 */
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { chromium } from "playwright-core";
import { PUBLIC_ASSETS } from "../../src/reference/assets.ts";

const PAGES = [
  "/",
  "/external/guides/first-request",
  "/external/guides/changelog",
  "/external/reference/invites/create-invite",
];
const RUNS = 5;
const TYPES: Record<string, string> = {
  ".css": "text/css",
  ".js": "text/javascript",
  ".html": "text/html; charset=utf-8",
};

const server = createServer((request, response) => {
  const path = join(PUBLIC_ASSETS, request.url ?? "/");
  const file = [path, `${path}.html`, join(path, "index.html")].find(
    (each) => extname(each) && existsSync(each),
  );
  if (!file) return void response.writeHead(404).end();
  response.writeHead(200, {
    "Content-Type": TYPES[extname(file)] ?? "text/plain",
    "Content-Encoding": "gzip",
  });
  response.end(gzipSync(readFileSync(file)));
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const executablePath = ["/usr/bin/chromium", "/usr/bin/google-chrome"].find(existsSync);
const browser = await chromium.launch({ ...(executablePath && { executablePath }), args: ["--no-sandbox"] });
for (const path of PAGES) {
  const times: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const page = await (await browser.newContext({ viewport: { width: 390, height: 844 } })).newPage();
    const devtools = await page.context().newCDPSession(page);
    await devtools.send("Network.enable");
    const bytesPerSecond = 1_600_000 / 8;
    await devtools.send("Network.emulateNetworkConditions", {
      offline: false,
      latency: 150,
      downloadThroughput: bytesPerSecond,
      uploadThroughput: bytesPerSecond,
    });
    await devtools.send("Emulation.setCPUThrottlingRate", { rate: 4 });
    await page.goto(address + path);
    const paint = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime";
    await page.waitForFunction(paint);
    times.push(await page.evaluate<number>(paint));
    await page.context().close();
  }
  times.sort((a, b) => a - b);
  process.stdout.write(`${path.padEnd(45)} ${Math.round(times[Math.floor(RUNS / 2)] ?? 0)} ms\n`);
}
await browser.close();
server.close();
