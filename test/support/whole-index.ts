/** How long the index may take. */
const PATIENCE_MS = 5 * 60_000;

/** Figures of the index that are 0 when nothing is left to do. */
const LEFT = ['tern_index_fill_missing_blocks', 'tern_index_actions_left', 'tern_index_contracts_queued'];

/**
 * Waits until the index of a Tern that serves one chain has all of it, and knows its contracts and actions.
 *
 * @param url of Tern
 * @returns the newest masterchain seqno
 */
export async function wholeIndex(url: string): Promise<number> {
  const info = (await (await fetch(`${url}/api/v2/getMasterchainInfo`)).json()) as {
    readonly result: { readonly last: { readonly seqno: number } };
  };
  const { last } = info.result;
  for (const until = Date.now() + PATIENCE_MS; ; await new Promise((resolve) => setTimeout(resolve, 500))) {
    const ready = (await (await fetch(`${url}/readyz`)).json()) as {
      readonly networks: Readonly<Record<string, { readonly details?: Readonly<Record<string, unknown>> }>>;
    };
    const coverage = String(Object.values(ready.networks)[0]?.details?.index_coverage);
    const metrics = await (await fetch(`${url}/metrics`)).text();
    const left = LEFT.map((name) => Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)`, 'm').exec(metrics)?.[1]));
    const isWhole = new RegExp(`history=1-${last.seqno}(?!\\d)`).test(coverage);
    if (isWhole && left.every((count) => count === 0)) return last.seqno;
    if (Date.now() > until) throw new Error(`the index has ${coverage} of ${last.seqno}; left: ${left.join(', ')}`);
  }
}
