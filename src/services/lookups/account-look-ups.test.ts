import { expect, it } from 'vitest';
import type { DatabaseReader } from '#drivers/store/database.js';
import { addressBytes } from '#drivers/store/keys.js';
import { Address } from '#formats/address/address.js';
import { toHex } from '#kernel/bytes.js';
import { systemClock } from '#kernel/clock.js';
import { silentLogger } from '#kernel/logger.js';
import type { ContractViews } from '#services/emulation/contract-reads.js';
import { AccountLookUps } from '#services/lookups/account-look-ups.js';

const account = (byte: number): Address => Address.ofParts(0, new Uint8Array(32).fill(byte));
const COLLECTION = account(1);
const KNOWN = account(2);
const FOUND = account(3);

/** An index that knows all accounts, and of a collection the item 7. */
function knowingIndex() {
  const looked: string[] = [];
  const query = async ({ name, values = [] }: { readonly name?: string; readonly values?: readonly unknown[] }) => {
    switch (name) {
      case 'known-nft-items': {
        const indexes = values[1] as readonly bigint[];
        return indexes.flatMap((index, at) =>
          index === 7n ? [{ n: BigInt(at + 1), address: addressBytes(KNOWN) }] : [],
        );
      }
      case 'account-knowledge':
        return (values[0] as readonly Uint8Array[]).map((address) => {
          looked.push(toHex(address));
          return { address, known: true, absent: false, undetected: false };
        });
      case 'index-head-block':
        return [{ seqno: 1060, root_hash: new Uint8Array(32), file_hash: new Uint8Array(32) }];
      default:
        return [];
    }
  };
  const read = <T>(work: (reader: DatabaseReader) => Promise<T>) => work({ query } as unknown as DatabaseReader);
  return { looked, read };
}

function lookUpsIn(index: ReturnType<typeof knowingIndex>, mostPerRequest = 10) {
  const ran: bigint[] = [];
  const contracts = {
    contractsAt: () => ({
      contract: async (address: Address) => ({ address, account: null }),
      runGetMethod: async (_: unknown, __: unknown, at: bigint) => {
        ran.push(at);
        return FOUND;
      },
    }),
  } as unknown as ContractViews;
  const never = async (): Promise<never> => {
    throw new Error('nothing is read');
  };
  const lookUps = new AccountLookUps(
    { mostPerRequest, concurrency: 1, mostAbsent: 1, dnsRoots: [] },
    {
      ...{ chain: { account: never, configParams: never }, contracts, index: () => index, writer: never },
      coverage: () => ({ history: [{ from: 900, to: 1060 }], selected: false, state_seqno: null }),
      ...{ onQueued: () => {}, clock: systemClock, logger: silentLogger },
    },
  );
  const lookUp = (...indexes: bigint[]) =>
    lookUps.lookUp(
      { nftItems: indexes.map((at) => ({ collection: COLLECTION.toRaw(), index: at })) },
      { deadlineMs: 10_000, signal: new AbortController().signal },
    );
  return { ran, lookUp };
}

it('only of items that are not known the collection is asked; that is reported, once for each', async () => {
  const index = knowingIndex();
  const { ran, lookUp } = lookUpsIn(index);
  expect(await lookUp(7n)).toEqual({ unknown: 0, absent: 0, read: 0, ran: 0 });
  expect(index.looked).toContain(toHex(addressBytes(KNOWN)));
  expect(await lookUp(7n, 8n, 9n)).toMatchObject({ unknown: 0, ran: 2 });
  expect(ran).toEqual([8n, 9n]);
  expect(index.looked).toEqual(expect.arrayContaining([COLLECTION, FOUND].map((one) => toHex(addressBytes(one)))));
  // Their addresses are remembered.
  expect(await lookUp(8n, 9n)).toMatchObject({ unknown: 0, ran: 0 });
});

it('known items do not count as looked up', async () => {
  const { lookUp } = lookUpsIn(knowingIndex(), 1);
  expect(await lookUp(7n, 8n)).toMatchObject({ unknown: 0, ran: 1 });
  expect(await lookUp(8n, 9n)).toMatchObject({ unknown: 1 });
});
