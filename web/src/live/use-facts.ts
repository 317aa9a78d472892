import { useState } from 'preact/hooks';
import type { AddressFacts } from '../api/answers.js';

/** Collects what the pages of a list say about addresses. */
export function useFacts(): readonly [AddressFacts, (more: AddressFacts) => void] {
  const [facts, setFacts] = useState<AddressFacts>({});
  const add = ({ address_book, metadata }: AddressFacts): void =>
    setFacts((before) => ({
      address_book: { ...before.address_book, ...address_book },
      metadata: { ...before.metadata, ...metadata },
    }));
  return [facts, add];
}
