import type { ComponentChildren } from 'preact';
import type { AccountState, AccountStatesAnswer, AddressFacts } from '../api/answers.js';
import { ask, askV3 } from '../api/ask.js';
import { accountOfId, type StackEntry, stackAddress, stackEntries, stackInteger } from '../chain/stack-values.js';
import { countText, decimalsOf } from '../format/amount.js';
import { exitCodeText } from '../format/exit-code.js';
import { durationText } from '../format/time.js';
import { AccountLink } from '../parts/address.js';
import { useKnownAddress } from '../parts/address-facts.js';
import { Amount, Ton } from '../parts/amount.js';
import { Fact, Facts, Section } from '../parts/facts.js';
import { Moment } from '../parts/moment.js';
import { Notice } from '../parts/notice.js';
import { Sliced } from '../parts/sliced.js';
import { TableFrame } from '../parts/table-frame.js';
import { AccountActions } from './account/history.js';
import { FoundContract } from './found-contract.js';
import { type FactForm, type PoolKind, poolKindOf } from './pool/pool-kinds.js';

/** What a get-method gave. */
interface Run {
  readonly exit_code: number;
  readonly stack: readonly StackEntry[];
}

interface Pool {
  readonly state: AccountState;
  readonly kind: PoolKind;
  readonly runs: Readonly<Record<string, Run>>;
  /** The jetton of a liquid staking pool, raw; null: there is none. */
  readonly jetton: string | null;
}

interface FoundPool {
  /** Null: nothing is at this address. */
  readonly found: Pool | 'other' | null;
  readonly facts: AddressFacts;
  readonly coverage: string | null;
}

async function findPool(raw: string, signal: AbortSignal): Promise<FoundPool> {
  const query = { address: [raw], include_boc: false };
  const { value, coverage } = await askV3<AccountStatesAnswer>('accountStates', query, signal);
  const state = value.accounts[0];
  if (state === undefined || state.status !== 'active') return { found: null, facts: value, coverage };
  const kind = poolKindOf(state.contract_methods);
  if (kind === null) return { found: 'other', facts: value, coverage };
  const names = [...kind.calls.map(({ method }) => method), ...(kind.members === null ? [] : [kind.members])];
  const runs: Record<string, Run> = {};
  for (const method of names) {
    const body = { address: raw, method, stack: [] };
    runs[method] = (await ask<Run>('/api/v3/runGetMethod', { body, signal })).value;
  }
  const jetton = kind.jetton === null ? null : stackAddress(runs[kind.jetton.method]?.stack[kind.jetton.index]);
  const facts = jetton === null ? value : await withJetton(value, jetton, signal);
  return { found: { state, kind, runs, jetton }, facts, coverage };
}

/** Adds what is known of a jetton. */
async function withJetton(facts: AddressFacts, jetton: string, signal: AbortSignal): Promise<AddressFacts> {
  const { value } = await askV3<AddressFacts>('jetton/masters', { address: [jetton] }, signal);
  return {
    address_book: { ...facts.address_book, ...value.address_book },
    metadata: { ...facts.metadata, ...value.metadata },
  };
}

/** A staking pool: what its get-methods say, its members where it lists them, and what happened there. */
export function PoolPage({ address }: { readonly address: string }) {
  return (
    <FoundContract<Pool | 'other'> address={address} what="pool" load={findPool}>
      {(pool) =>
        pool === 'other' ? (
          <Notice title="This contract is no staking pool that is known here.">
            Known by their get-methods are nominator pools, single nominators, pools of liquid staking, and pools of
            Whales. <AccountLink address={address} />
          </Notice>
        ) : (
          <PoolView pool={pool} />
        )
      }
    </FoundContract>
  );
}

function PoolView({ pool: { state, kind, runs, jetton } }: { readonly pool: Pool }) {
  const { token } = useKnownAddress(jetton);
  const decimals = decimalsOf(token?.extra?.decimals);
  const failed = Object.entries(runs).filter(([, { exit_code }]) => exit_code !== 0 && exit_code !== 1);
  return (
    <>
      <h1>{kind.name}</h1>
      {failed.map(([method, { exit_code: code }]) => (
        <Notice key={method} kind="warning" title={`${method} failed with exit code ${code}.`}>
          {exitCodeText(code) ?? 'It may need parameters of the configuration that this network does not have.'}
        </Notice>
      ))}
      <section class="card">
        <Facts>
          <Fact name="Contract">
            <AccountLink address={state.address} />
          </Fact>
          <Fact name="Balance of the contract">
            <Ton nano={state.balance} />
          </Fact>
          {kind.calls.flatMap(({ method, facts }) =>
            facts.map(({ name, index, form }) => {
              const entry = runs[method]?.stack[index];
              return entry === undefined ? null : (
                <Fact key={name} name={name}>
                  <PoolValue entry={entry} form={form} jetton={{ address: jetton, decimals }} />
                </Fact>
              );
            }),
          )}
        </Facts>
      </section>
      {kind.members !== null && <Members list={runs[kind.members]?.stack[0]} />}
      <Section title="Actions">
        <AccountActions raw={state.address} />
      </Section>
    </>
  );
}

interface PoolValueProps {
  readonly entry: StackEntry;
  readonly form: FactForm;
  readonly jetton: { readonly address: string | null; readonly decimals: number };
}

const STAKE_STATES = ['none', 'sent to the elector', 'accepted by the elector'];

/** A value as its form wants it; a dash for another type than was expected. */
function PoolValue({ entry, form, jetton }: PoolValueProps) {
  if (form === 'address') return <AddressOrNone address={stackAddress(entry)} />;
  const value = stackInteger(entry);
  if (value === null) return <span class="muted">–</span>;
  if (form === 'ton') return <Ton nano={value} />;
  if (form === 'masterchain-id') return <AddressOrNone address={accountOfId(-1, value)} />;
  if (form === 'pool-jetton') {
    return (
      <>
        <Amount units={value} decimals={jetton.decimals} />{' '}
        {jetton.address !== null && <AccountLink address={jetton.address} bare />}
      </>
    );
  }
  return <>{wordsOf(form, value)}</>;
}

function AddressOrNone({ address }: { readonly address: string | null }) {
  return address === null ? <span class="muted">none</span> : <AccountLink address={address} />;
}

function wordsOf(
  form: Exclude<FactForm, 'ton' | 'address' | 'masterchain-id' | 'pool-jetton'>,
  value: bigint,
): ComponentChildren {
  const small = value >= 0n && value < 1n << 40n ? Number(value) : null;
  switch (form) {
    case 'count':
      return countText(value);
    case 'flag':
      return value === 0n ? 'no' : 'yes';
    case 'time':
      return value === 0n ? 'never' : small === null ? '–' : <Moment at={small} full />;
    case 'duration':
      return small === null ? '–' : durationText(small);
    case 'basis-points':
      return small === null ? '–' : `${small / 100}\u00a0%`;
    case 'share-24':
      return small === null ? '–' : `${Number(((small / 2 ** 24) * 100).toFixed(4))}\u00a0%`;
    case 'stake-state':
      return (small === null ? undefined : STAKE_STATES[small]) ?? `state ${value}`;
    default:
      return form satisfies never;
  }
}

/** Rows of a table that are drawn at once. */
const SLICE = 100;

/** `[account id, amount, pending deposit, whether a withdrawal is asked for]` of each. */
function Members({ list }: { readonly list: StackEntry | undefined }) {
  const rows = stackEntries(list).map(stackEntries);
  return (
    <Section title={`Nominators: ${countText(rows.length)}`}>
      {rows.length === 0 && <p class="muted">None.</p>}
      {rows.length > 0 && (
        <Sliced
          rows={rows}
          step={SLICE}
          what="nominators"
          frame={(drawn) => (
            <TableFrame>
              <table class="table">
                <thead>
                  <tr>
                    <th scope="col">Nominator</th>
                    <th scope="col" class="number">
                      Stake
                    </th>
                    <th scope="col" class="number">
                      Waiting deposit
                    </th>
                    <th scope="col">Withdrawal</th>
                  </tr>
                </thead>
                <tbody>{drawn}</tbody>
              </table>
            </TableFrame>
          )}
          row={([id, amount, pending, asked], index) => (
            <tr key={String(id?.value ?? index)}>
              <td>
                <AddressOrNone address={accountOfId(0, stackInteger(id))} />
              </td>
              <td class="number">
                <Ton nano={stackInteger(amount)} />
              </td>
              <td class="number">
                <Ton nano={stackInteger(pending)} />
              </td>
              <td>{(stackInteger(asked) ?? 0n) === 0n ? '' : 'asked for'}</td>
            </tr>
          )}
        />
      )}
    </Section>
  );
}
