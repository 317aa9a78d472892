import { describe, expect, it } from 'vitest';
import { ForkAccountImporter, ForkedContractReads } from '#app/service/account-import.js';
import { Address } from '#formats/address/address.js';
import { MASTERCHAIN_SHARD } from '#formats/proofs/block-id.js';
import { forkErrors } from '#localnet/fork/errors.js';
import type { ReadAt } from '#services/chain/read-context.js';
import type { ContractReads, TokenRead } from '#services/emulation/contract-reads.js';
import { contractsErrors } from '#services/emulation/errors.js';

const address = (byte: number): Address => Address.ofParts(0, new Uint8Array(32).fill(byte));
const [wallet, master, nobody] = [address(1), address(2), address(3)];
const blockAt = (seqno: number) => ({
  ...MASTERCHAIN_SHARD,
  seqno,
  root_hash: new Uint8Array(32),
  file_hash: new Uint8Array(32),
});

/** A network to which accounts come one block after they are touched. */
class Network {
  readonly here = new Map<string, number>();
  readonly touched: string[] = [];
  readonly there = new Set([wallet.toRaw(), master.toRaw()]);
  head = 10;
  /** What a client knows. */
  seen = 10;
  isUp = true;

  touch = async (of: Address) => {
    const key = of.toRaw();
    this.touched.push(key);
    await Promise.resolve();
    if (!this.isUp) throw forkErrors.unreachable({ what: key, source: 'there', problem: 'it is down' });
    if (!this.there.has(key)) return null;
    if (!this.here.has(key)) this.here.set(key, ++this.head);
    return { block: blockAt(this.here.get(key)!) };
  };

  waitForHead = async (seqno: number) => {
    this.seen = Math.max(this.seen, Math.min(seqno, this.head));
  };

  /** Reads the accounts in turn, at one block, as far as each is there. */
  read(addresses: readonly Address[], { at = 'head', onAbsent }: ReadAt): number {
    const seqno = at === 'head' ? this.seen : (at as number);
    let found = 0;
    for (const each of addresses) {
      if ((this.here.get(each.toRaw()) ?? Number.POSITIVE_INFINITY) > seqno) {
        onAbsent?.(each);
        break;
      }
      found++;
    }
    return found;
  }
}

/** `tokenData` reads a wallet, then its master; `resolveDns` fails on the way; the others read what they are about. */
function contractsOf(network: Network): ContractReads {
  return {
    tokenData: async (_, options = {}) => ({ found: network.read([wallet, master], options) }) as unknown as TokenRead,
    resolveDns: async (resolver, name, _, options = {}) => {
      const found = network.read([resolver, master], options);
      if (found < 2) throw contractsErrors['no-workchain']({ workchain: found, block: name });
      return [] as never;
    },
    runGetMethod: async (of, _, __, options = {}) => ({ gas_used: network.read([of], options) }) as never,
    estimateFee: async (question, options = {}) => ({ gas_fee: network.read([question.address], options) }) as never,
    explainRefusal: async (_, __, options = {}) => ({ reason: network.read([wallet], options) }) as never,
  };
}

function forked() {
  const network = new Network();
  const accounts = new ForkAccountImporter(network);
  const contracts = new ForkedContractReads(
    contractsOf(network),
    (of) => accounts.importAccount(of),
    network.waitForHead,
  );
  return { network, contracts };
}

describe('contracts of a fork', () => {
  it('bring the account that is asked about before it is read', async () => {
    const { network, contracts } = forked();
    expect(await contracts.runGetMethod(wallet, 'seqno', [])).toEqual({ gas_used: 1 });
    expect(await contracts.runGetMethod(wallet, 'seqno', [])).toEqual({ gas_used: 1 });
    expect(network.touched).toEqual([wallet.toRaw()]);
    expect(await contracts.estimateFee({ address: master } as never)).toEqual({ gas_fee: 1 });
    expect(await contracts.explainRefusal(null as never, '')).toEqual({ reason: 1 });
  });

  it('bring the accounts that are missing on the way, and ask again', async () => {
    const { network, contracts } = forked();
    expect(await contracts.tokenData(wallet)).toEqual({ found: 2 });
    expect(network.touched).toEqual([wallet.toRaw(), master.toRaw()]);
    expect(await forked().contracts.resolveDns(wallet, 'a', 0)).toEqual([]);
  });

  it('say what they say where an account is nowhere, without asking for ever', async () => {
    const { network, contracts } = forked();
    network.there.delete(master.toRaw());
    expect(await contracts.tokenData(wallet)).toEqual({ found: 1 });
    expect(await contracts.runGetMethod(nobody, 'seqno', [])).toEqual({ gas_used: 0 });
    await expect(contracts.resolveDns(wallet, 'a', 0)).rejects.toMatchObject({ code: 'contracts/no-workchain' });
    expect(network.touched).toEqual([wallet, master, nobody].map((each) => each.toRaw()));
  });

  it('of a named block are those of that block', async () => {
    const { network, contracts } = forked();
    expect(await contracts.tokenData(wallet, { at: 10 })).toEqual({ found: 0 });
    expect(network.touched).toEqual([]);
  });

  it('fail as long as the other network cannot be read, and are asked for again', async () => {
    const { network, contracts } = forked();
    network.isUp = false;
    await expect(contracts.tokenData(wallet)).rejects.toMatchObject({ code: 'fork/unreachable' });
    network.isUp = true;
    expect(await contracts.tokenData(wallet)).toEqual({ found: 2 });
  });

  it('are brought once for all who ask at the same time', async () => {
    const { network, contracts } = forked();
    await Promise.all(Array.from({ length: 5 }, () => contracts.tokenData(wallet)));
    expect(network.touched).toEqual([wallet.toRaw(), master.toRaw()]);
  });
});
