import type { IssuedKey } from '#services/access/key-administration.js';
import type { KeyRecord } from '#services/access/key-record.js';
import { type Plan, quotaInWords, rateInWords } from '#services/access/plans.js';
import type { UsageRow } from '#services/access/usage-report.js';

type LastUses = ReadonlyMap<string, string>;

/** As `--json` prints it. */
export function toJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** A key without what is stored of its secrets. */
export function keyJson({ secrets, ...record }: KeyRecord, uses?: LastUses): object {
  const shown = secrets.map(({ created_at, expires_at }) => ({ created_at, expires_at }));
  return { ...record, secrets: shown, ...(uses === undefined ? {} : { last_used: uses.get(record.id) ?? null }) };
}

export function issuedJson({ record, key }: IssuedKey): string {
  return toJson({ ...keyJson(record), key });
}

/** What is shown of a key when it has just got a secret: the only time. */
export function issuedText({ record, key }: IssuedKey, plan: Plan | null): string {
  const ending = record.secrets.flatMap(({ expires_at }) => expires_at ?? []);
  const lines: [string, string][] = [
    ['key', key],
    ['id', record.id],
    ['plan', plan === null ? record.plan : `${record.plan} (${limitsInWords(plan)})`],
    ['networks', networksOf(record)],
  ];
  for (const moment of ending) lines.push(['old key', `let in until ${moment}`]);
  return `${lines.map(([name, value]) => `${name.padEnd(10)}${value}`).join('\n')}\n\nKeep the key now: it is not stored and cannot be shown again.\n`;
}

export function keyTable(keys: readonly KeyRecord[], uses: LastUses): string {
  if (keys.length === 0) return 'There are no keys. tern keys create makes one.\n';
  const rows = keys.map((key) => [
    key.id,
    key.revoked_at === null ? 'active' : `revoked ${minute(key.revoked_at)}`,
    key.plan,
    networksOf(key),
    key.owner ?? '-',
    minute(key.created_at),
    minute(uses.get(key.id) ?? null),
    key.label,
  ]);
  return table(['id', 'state', 'plan', 'networks', 'owner', 'created', 'last used', 'label'], rows);
}

export function usageTable(rows: readonly UsageRow[]): string {
  if (rows.length === 0) return 'Nothing was asked for in this time.\n';
  const lines = rows.map(({ day, key, network, allowed, limited, last_used }) => [
    day,
    key,
    network,
    String(allowed),
    String(limited),
    minute(last_used),
  ]);
  return table(['day', 'key', 'network', 'allowed', 'limited', 'last used'], lines);
}

function limitsInWords({ requests_per_second, daily_quota }: Plan): string {
  const words = [
    ...(requests_per_second === null ? [] : [rateInWords(requests_per_second)]),
    ...(daily_quota === null ? [] : [quotaInWords(daily_quota)]),
  ];
  return words.length === 0 ? 'no limit' : words.join(', ');
}

function networksOf({ networks }: KeyRecord): string {
  return networks === null ? 'all of the plan' : networks.join(', ');
}

/** `2025-01-31 12:00`, UTC. */
function minute(moment: string | null): string {
  return moment === null ? '-' : moment.slice(0, 16).replace('T', ' ');
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((name, i) => rows.reduce((most, row) => Math.max(most, row[i]!.length), name.length));
  const line = (row: readonly string[]): string =>
    row
      .map((text, i) => text.padEnd(widths[i]!))
      .join('  ')
      .trimEnd();
  return `${[head, ...rows].map(line).join('\n')}\n`;
}
