import { methodId } from '../../chain/method-id.js';

/** How a value of a get-method is shown. */
export type FactForm =
  | 'ton'
  /** In units of the jetton of the pool. */
  | 'pool-jetton'
  | 'count'
  | 'flag'
  /** Unix seconds; 0: never. */
  | 'time'
  /** Seconds. */
  | 'duration'
  /** Parts of 10,000. */
  | 'basis-points'
  /** Parts of 2^24. */
  | 'share-24'
  /** A slice with an address. */
  | 'address'
  /** An account id of the masterchain as an integer. */
  | 'masterchain-id'
  /** 0: no stake, 1: sent, 2: at the elector. */
  | 'stake-state';

/** A value of the stack of a get-method. */
interface PoolFact {
  readonly name: string;
  /** From the first result on. */
  readonly index: number;
  readonly form: FactForm;
}

/** A kind of pool, by the get-methods of its code. */
export interface PoolKind {
  readonly name: string;
  /** All of these are in its code. */
  readonly methods: readonly string[];
  readonly calls: readonly { readonly method: string; readonly facts: readonly PoolFact[] }[];
  /** The get-method that lists who has a part of the stake, if there is one. */
  readonly members: 'list_nominators' | null;
  /** Where the address of the jetton of the pool is, if there is one. */
  readonly jetton: { readonly method: string; readonly index: number } | null;
}

const facts = (rows: readonly (readonly [index: number, name: string, form: FactForm])[]): readonly PoolFact[] =>
  rows.map(([index, name, form]) => ({ index, name, form }));

const KINDS: readonly PoolKind[] = [
  {
    name: 'Nominator pool',
    methods: ['get_pool_data', 'list_nominators'],
    calls: [
      {
        method: 'get_pool_data',
        facts: facts([
          [0, 'Stake', 'stake-state'],
          [2, 'Sent to the elector', 'ton'],
          [11, 'Stake sent at', 'time'],
          [15, 'Held for', 'duration'],
          [1, 'Nominators', 'count'],
          [6, 'Maximum of nominators', 'count'],
          [3, 'Of the validator', 'ton'],
          [4, 'Validator', 'masterchain-id'],
          [5, 'Reward of the validator', 'basis-points'],
          [7, 'Minimum stake of the validator', 'ton'],
          [8, 'Minimum stake of a nominator', 'ton'],
        ]),
      },
    ],
    members: 'list_nominators',
    jetton: null,
  },
  {
    name: 'Single nominator',
    methods: ['get_pool_data', 'get_roles'],
    calls: [
      {
        method: 'get_roles',
        facts: facts([
          [0, 'Owner', 'address'],
          [1, 'Validator', 'address'],
        ]),
      },
    ],
    members: null,
    jetton: null,
  },
  {
    name: 'Liquid staking pool',
    methods: ['get_pool_full_data'],
    calls: [
      {
        method: 'get_pool_full_data',
        facts: facts([
          [1, 'Halted', 'flag'],
          [2, 'Total balance', 'ton'],
          [28, 'Projected balance', 'ton'],
          [12, 'Pool jetton', 'address'],
          [13, 'Supply', 'pool-jetton'],
          [29, 'Projected supply', 'pool-jetton'],
          [3, 'Interest of a round', 'share-24'],
          [11, 'Governance fee', 'share-24'],
          [4, 'Deposits and withdrawals at once', 'flag'],
          [5, 'Deposits open', 'flag'],
          [15, 'Waiting deposits', 'ton'],
          [17, 'Waiting withdrawals', 'pool-jetton'],
          [9, 'Minimum loan of a validator', 'ton'],
          [10, 'Greatest loan of a validator', 'ton'],
          [20, 'Governor', 'address'],
        ]),
      },
    ],
    members: null,
    jetton: { method: 'get_pool_full_data', index: 12 },
  },
  {
    name: 'Nominator pool (Whales)',
    methods: ['get_pool_status', 'get_params', 'get_staking_status'],
    calls: [
      {
        method: 'get_pool_status',
        facts: facts([
          [0, 'Balance of the members', 'ton'],
          [1, 'Sent to the elector', 'ton'],
          [2, 'Waiting deposits', 'ton'],
          [3, 'Waiting withdrawals', 'ton'],
          [4, 'To be withdrawn', 'ton'],
        ]),
      },
      {
        method: 'get_params',
        facts: facts([
          [0, 'Open', 'flag'],
          [2, 'Minimum stake', 'ton'],
          [3, 'Fee of a deposit', 'ton'],
          [4, 'Fee of a withdrawal', 'ton'],
          [5, 'Fee of the pool', 'basis-points'],
          [6, 'Price of a receipt', 'ton'],
        ]),
      },
    ],
    members: null,
    jetton: null,
  },
];

/** The kind of pool that a contract is; null when it is none. @param ids of the get-methods in its code */
export function poolKindOf(ids: readonly number[] | null | undefined): PoolKind | null {
  if (ids == null) return null;
  return KINDS.find(({ methods }) => methods.every((name) => ids.includes(methodId(name)))) ?? null;
}
