/** A sample of a metric in the text format of Prometheus. */
export interface PrometheusSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const LINE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? ([^ ]+)/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"/g;

/** The samples of a page of `/metrics`. */
export function prometheusSamples(text: string): PrometheusSample[] {
  const samples: PrometheusSample[] = [];
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const [, name, labels = '', value = ''] = LINE.exec(line) ?? [];
    if (name === undefined) continue;
    const pairs = [...labels.matchAll(LABEL)].map(([, label = '', text = '']) => [label, unescaped(text)] as const);
    samples.push({
      name,
      labels: Object.fromEntries(pairs),
      value: value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value),
    });
  }
  return samples;
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(.)/g, (_, character: string) => (character === 'n' ? '\n' : character));
}

/** The sum of the samples of a metric that have these labels; null when there is none. */
export function sampleSum(
  samples: readonly PrometheusSample[],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | null {
  const own = samples.filter((sample) => sample.name === name && hasLabels(sample, labels));
  return own.length === 0 ? null : own.reduce((sum, { value }) => sum + value, 0);
}

function hasLabels(sample: PrometheusSample, labels: Readonly<Record<string, string>>): boolean {
  return Object.entries(labels).every(([name, value]) => sample.labels[name] === value);
}

/**
 * A quantile of a histogram, by the bounds of its buckets: the smallest bound below which the share of the values lies.
 *
 * @param share 0 to 1
 * @returns null without values
 */
export function histogramQuantile(
  samples: readonly PrometheusSample[],
  name: string,
  share: number,
  labels: Readonly<Record<string, string>> = {},
): number | null {
  const counts = new Map<number, number>();
  for (const sample of samples) {
    if (sample.name !== `${name}_bucket` || !hasLabels(sample, labels)) continue;
    const bound = sample.labels.le === '+Inf' ? Number.POSITIVE_INFINITY : Number(sample.labels.le);
    counts.set(bound, (counts.get(bound) ?? 0) + sample.value);
  }
  const total = counts.get(Number.POSITIVE_INFINITY) ?? 0;
  if (total === 0) return null;
  const bounds = [...counts.keys()].sort((a, b) => a - b);
  return bounds.find((bound) => counts.get(bound)! >= total * share) ?? null;
}
