/** What changed since another checkout, in Markdown. */
import { type Effort, type Figures, type Measured, quantile } from "./measurement.ts";
import { code, cpuOf, cpuRatios, howCpu, MARK, table } from "./report.ts";

/** In three of four turns ours took more CPU than the code before: more than noise. */
export const takesMoreCpu = ({ ours, before }: Measured) =>
  before !== undefined && quantile(cpuRatios(ours, before), 0.25) > 1;

export function toMarkdownAgainst(operations: Measured[], effort: Effort): string {
  const rows = operations.map((measured) => {
    const { operation, door, ours, before, floor } = measured;
    return [
      code(operation),
      door,
      change(measured, ({ round_trips }) => round_trips),
      change(measured, ({ rows_read }) => rows_read),
      change(measured, ({ rows_written }) => rows_written),
      cpuOf(ours).toFixed(3),
      cpu(before),
      cpu(floor),
      ratios(ours, before) + (takesMoreCpu(measured) ? MARK : ""),
      ratios(ours, floor),
    ];
  });
  const head = ["Operation", "Door", "Round trips", "Rows read", "Rows written"];
  const cpus = ["CPU ours", "Before", "Floor", "Ours / before", "Ours / floor"];
  return `**Against the code before**: counts are ours, or before → ours. ${howCpu(effort)} (in brackets their quartiles), in milliseconds.${MARK}: in three of four turns ours took more CPU than the code before.

${table([...head, ...cpus], rows)}`;
}

function change({ ours, before }: Measured, count: (figures: Figures) => number): string {
  const [now, then] = [count(ours), before && count(before)];
  return then === undefined || then === now ? `${now}` : `${then} → ${now}`;
}

const cpu = (figures: Figures | undefined) => (figures ? cpuOf(figures).toFixed(3) : "–");

function ratios(ours: Figures, other: Figures | undefined): string {
  if (!other) return "–";
  const [lower, median, upper] = [0.25, 0.5, 0.75].map((q) => quantile(cpuRatios(ours, other), q).toFixed(2));
  return `${median} (${lower} to ${upper})`;
}
