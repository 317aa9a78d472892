import type { ComponentChildren } from 'preact';
import type { AddressFacts } from '../api/answers.js';
import { addressOf, rawAddress } from '../format/chain-text.js';
import { useLoad } from '../live/use-load.js';
import { KnownAddresses } from '../parts/address-facts.js';
import { CoverageNotice, Loading, NotFound, Notice, ProblemNotice } from '../parts/notice.js';

interface FoundProps<Value> {
  /** In any form. */
  readonly address: string;
  readonly what: string;
  readonly load: (
    raw: string,
    signal: AbortSignal,
  ) => Promise<{ readonly found: Value | null; readonly facts: AddressFacts; readonly coverage: string | null }>;
  readonly children: (found: Value) => ComponentChildren;
}

/** A contract that is named by its address. */
export function FoundContract<Value>({ address: given, what, load, children }: FoundProps<Value>) {
  const address = addressOf(given);
  const raw = address === null ? null : rawAddress(address);
  const { value, problem } = useLoad(raw === null ? null : `${what}:${raw}`, (signal) => load(raw!, signal), {
    live: true,
  });
  if (raw === null) return <Notice kind="error" title="This is no address." />;
  if (value === null)
    return problem === null ? <Loading what={`the ${what}`} /> : <ProblemNotice problem={problem} what={what} />;
  if (value.found === null) return <NotFound what={what} coverage={value.coverage} />;
  return (
    <KnownAddresses of={value.facts}>
      <CoverageNotice coverage={value.coverage} />
      {children(value.found)}
    </KnownAddresses>
  );
}
