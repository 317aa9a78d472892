import { describe, expect, it } from 'vitest';
import type { ContractFacts } from '#domain/actions/trace-facts.js';
import type { TracedTransaction } from '#domain/actions/trace-input.js';
import type { AccountFacts } from '#drivers/store/write/trace-facts.js';
import { FactsAtTrace } from '#services/indexer/actions/trace-classification.js';
import { account } from '#test/support/made-traces.js';

const [SALE, AUCTION, WALLET, OWNER] = [1, 2, 3, 4].map(account) as [
  ReturnType<typeof account>,
  ReturnType<typeof account>,
  ReturnType<typeof account>,
  ReturnType<typeof account>,
];

type Status = TracedTransaction['end_status'];
const transaction = (lt: bigint, mc_seqno: number, [orig_status, end_status]: [Status, Status]): TracedTransaction => ({
  ...{ hash: new Uint8Array(32), account: WALLET, lt, utime: 1, mc_seqno, kind: 'ordinary', aborted: false },
  ...{ exit_code: 0, skipped: null, orig_status, end_status, in_msg: null, out_msgs: [] },
});

const FACTS: AccountFacts = {
  ...{ contract: null, isUndetected: false, isPostponed: false, detected_lt: null, isGone: false },
};
const common = { nft: WALLET, nft_owner: OWNER, marketplace: null };
const sale: ContractFacts = { code_hash: null, nft_sale: { ...common, full_price: 5n } };
const auction: ContractFacts = { code_hash: null, nft_auction: { ...common, last_bid: 7n } };
const wallet: ContractFacts = { code_hash: null, jetton_wallet: { owner: OWNER, jetton: SALE } };

/** Facts of a trace that ends with logical time 20 in block 9. */
function factsOf(
  contracts: readonly (readonly [typeof SALE, Partial<AccountFacts>])[],
  transactions = [transaction(10n, 7, ['active', 'active']), transaction(20n, 9, ['active', 'active'])],
): FactsAtTrace {
  const known = new Map(contracts.map(([address, facts]) => [address.toRaw(), { ...FACTS, ...facts }]));
  return new FactsAtTrace(transactions, { contracts: known, data: new Map() });
}

const outdated = ({ outdated: noted }: FactsAtTrace) =>
  [...noted.values()].map(({ address, mc_seqno }) => [address.toRaw(), mc_seqno]);

describe('what contracts were at the end of a trace', () => {
  it('is what they are when they have not changed since', () => {
    const facts = factsOf([[SALE, { contract: sale, detected_lt: 20n }]]);
    expect(facts.contract(SALE)!.nft_sale!.full_price).toBe(5n);
    expect(outdated(facts)).toEqual([]);
  });

  it('is asked for when the price or the owner of a sale matters that has changed since', () => {
    const facts = factsOf([
      [SALE, { contract: sale, detected_lt: 21n }],
      [AUCTION, { contract: auction, detected_lt: 30n }],
      [WALLET, { contract: wallet, detected_lt: 30n }],
    ]);
    expect(facts.contract(SALE)!.nft_sale!.nft).toBe(WALLET);
    expect(facts.contract(AUCTION)!.nft_auction!.marketplace).toBeNull();
    expect(facts.contract(WALLET)).toEqual(wallet);
    expect(outdated(facts)).toEqual([]);
    expect(facts.contract(SALE)!.nft_sale!.full_price).toBe(5n);
    expect(facts.contract(AUCTION)!.nft_auction!.last_bid).toBe(7n);
    expect(outdated(facts)).toEqual([
      [SALE.toRaw(), 9],
      [AUCTION.toRaw(), 9],
    ]);
  });

  it.each([
    ['was destroyed later', ['active', 'active'], [[WALLET.toRaw(), 9]]],
    ['was destroyed by the trace', ['active', 'nonexist'], [[WALLET.toRaw(), 6]]],
  ] as [string, [Status, Status], unknown][])('is asked for when a contract %s', (_, statuses, expected) => {
    const transactions = [transaction(20n, 9, statuses), transaction(10n, 7, ['active', 'active'])];
    const facts = factsOf([[WALLET, { isGone: true }]], transactions);
    expect([facts.contract(WALLET), outdated(facts)]).toEqual([null, expected]);
  });

  it('is nothing for an account that never had code in the trace, or is no contract of interest now', () => {
    const idle = [transaction(10n, 7, ['uninit', 'uninit'])];
    const gone = factsOf([[WALLET, { isGone: true }]], idle);
    expect([gone.contract(WALLET), outdated(gone)]).toEqual([null, []]);
    const other = factsOf([[WALLET, {}]]);
    expect([other.contract(WALLET), outdated(other)]).toEqual([null, []]);
    expect(other.contract(OWNER)).toBeUndefined();
  });

  it('is what was read, or what is known now when that is not available any more', () => {
    const facts = factsOf([
      [SALE, { contract: sale, detected_lt: 21n }],
      [AUCTION, { contract: auction, detected_lt: 30n }],
    ]);
    const before = { code_hash: null, nft_sale: { ...common, full_price: 4n } };
    facts.add(SALE, { outcome: 'read', contract: before });
    facts.add(AUCTION, { outcome: 'unavailable', contract: null });
    expect(facts.contract(SALE)).toEqual(before);
    expect(facts.contract(AUCTION)).toEqual(auction);
    expect(outdated(facts)).toEqual([]);
  });
});
