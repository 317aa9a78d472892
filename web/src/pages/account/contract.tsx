import type { AccountState, ProvenAccount } from '../../api/answers.js';
import { countText } from '../../format/amount.js';
import { Copy } from '../../parts/copy.js';
import { Fact, Facts } from '../../parts/facts.js';
import { HashText } from '../../parts/reference.js';

interface ContractProps {
  readonly state: AccountState | null;
  readonly proven: ProvenAccount | null;
}

/** Code and data of an account. */
export function AccountContract({ state, proven }: ContractProps) {
  const code = state?.code_boc ?? proven?.code ?? '';
  const data = state?.data_boc ?? proven?.data ?? '';
  if (code === '' && data === '') return <p class="muted">There is no contract at this address.</p>;
  return (
    <>
      <Facts>
        {state?.code_hash != null && (
          <Fact name="Code hash">
            <HashText hash={state.code_hash} what="code hash" />
          </Fact>
        )}
        {state?.data_hash != null && (
          <Fact name="Data hash">
            <HashText hash={state.data_hash} what="data hash" />
          </Fact>
        )}
        {state !== null && (
          <Fact name="State hash">
            <HashText hash={state.account_state_hash} what="state hash" />
          </Fact>
        )}
      </Facts>
      <BocText title="Code" boc={code} />
      <BocText title="Data" boc={data} />
    </>
  );
}

const MOST = 20_000;

/** A bag of cells in base64. */
export function BocText({ title, boc }: { readonly title: string; readonly boc: string }) {
  if (boc === '') return null;
  return (
    <details class="raw">
      <summary>
        {title} as BoC ({countText(Math.floor((boc.length * 3) / 4))} bytes)
      </summary>
      <p class="mono wrap">
        {boc.slice(0, MOST)}
        {boc.length > MOST && '…'} <Copy text={boc} what={`${title.toLowerCase()} BoC`} />
      </p>
    </details>
  );
}
