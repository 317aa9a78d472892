import type { AddressFacts } from '../api/answers.js';
import { type Answer, askV3 } from '../api/ask.js';
import { useFacts } from '../live/use-facts.js';
import { type Pages, usePages } from '../live/use-pages.js';

/** A jetton wallet, as API v3 has it. */
interface JettonWallet {
  readonly address: string;
  /** In the smallest units of the jetton. */
  readonly balance: string;
  readonly owner: string;
  readonly jetton: string;
}

interface WalletsAnswer extends AddressFacts {
  readonly jetton_wallets: readonly JettonWallet[];
}

const PAGE = 50;

/** Whose wallets: those of an owner, or those of a jetton. Raw addresses. */
type WalletFilter = { readonly owner_address: string } | { readonly jetton_address: string };

/** The jetton wallets that hold something, the largest balances first, and what is known of the addresses in them. */
export function useJettonWallets(filter: WalletFilter): {
  readonly pages: Pages<JettonWallet>;
  readonly facts: AddressFacts;
} {
  const [facts, addFacts] = useFacts();
  const pages = usePages<JettonWallet>(
    `jetton-wallets:${JSON.stringify(filter)}`,
    async (cursor, signal) => {
      const query = { ...filter, exclude_zero_balance: true, cursor, limit: PAGE, sort: 'desc' };
      const answer: Answer<WalletsAnswer> = await askV3('jetton/wallets', query, signal);
      addFacts(answer.value);
      return { ...answer, value: answer.value.jetton_wallets };
    },
    ({ address }) => address,
    { live: true },
  );
  return { pages, facts };
}
