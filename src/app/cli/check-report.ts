import type { CheckReport } from '#services/indexer/check/check-index.js';
import { printRanges } from '#services/indexer/seqno-ranges.js';

/** Longest text of a value that differs. */
const MAX_VALUE = 80;

/** What `tern check` prints. */
export function reportText(report: CheckReport): string {
  const { range, rounds, blocks, transactions, traces, differences, details, missing } = report;
  const lines = [
    `masterchain blocks ${range.from}-${range.to}: compared ${rounds} of them with ${blocks} blocks, ` +
      `${transactions} transactions and ${traces} traces`,
  ];
  if (missing.length > 0) lines.push(`not indexed: ${printRanges(missing)}`);
  const kinds = Object.entries(differences);
  if (kinds.length === 0) lines.push('no difference');
  for (const [kind, times] of kinds) lines.push(`different: ${kind}, ${times} times`);
  for (const { row, column, expected, found } of details) {
    const place = column === null ? row : `${row}, ${column}`;
    lines.push(`  ${place}: the chain has ${valueText(expected)}, the index ${valueText(found)}`);
  }
  const total = Object.values(differences).reduce((sum, each) => sum + each, 0);
  if (total > details.length) lines.push(`  and ${total - details.length} more`);
  if (report.brokenTraces > 0) {
    lines.push(`${report.brokenTraces} traces begin with a message whose sender is not indexed`);
  }
  if (report.incompleteAccounts > 0) {
    lines.push(`${report.incompleteAccounts} accounts have parts that are not known yet`);
  }
  return `${lines.join('\n')}\n`;
}

function valueText(value: string | null): string {
  if (value === null) return 'nothing';
  return value.length > MAX_VALUE ? `${value.slice(0, MAX_VALUE)}… (${value.length} characters)` : value;
}
