import { type ComponentChildren, createContext } from 'preact';
import { useContext, useMemo } from 'preact/hooks';
import type { AddressFacts, TokenInfo } from '../api/answers.js';

const FactsContext = createContext<AddressFacts>({});

/** Gives everything inside it what an answer says about addresses. */
export function KnownAddresses({
  of,
  children,
}: {
  readonly of: AddressFacts | null | undefined;
  readonly children: ComponentChildren;
}) {
  const around = useContext(FactsContext);
  const merged = useMemo<AddressFacts>(
    () => ({
      address_book: { ...around.address_book, ...of?.address_book },
      metadata: { ...around.metadata, ...of?.metadata },
    }),
    [around, of],
  );
  return <FactsContext.Provider value={merged}>{children}</FactsContext.Provider>;
}

/** What is known of an address. */
export interface KnownAddress {
  readonly friendly: string | null;
  readonly domain: string | null;
  readonly interfaces: readonly string[];
  /** What it says of itself as a token. */
  readonly token: TokenInfo | null;
}

const NOTHING: KnownAddress = { friendly: null, domain: null, interfaces: [], token: null };

/** @param raw null: nothing is known */
export function useKnownAddress(raw: string | null): KnownAddress {
  const facts = useContext(FactsContext);
  return raw === null ? NOTHING : knownAddress(facts, raw);
}

export function knownAddress({ address_book, metadata }: AddressFacts, raw: string): KnownAddress {
  const row = address_book?.[raw];
  return {
    friendly: row?.user_friendly ?? null,
    domain: row?.domain ?? null,
    interfaces: row?.interfaces ?? [],
    token: metadata?.[raw]?.token_info?.[0] ?? null,
  };
}
