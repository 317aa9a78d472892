import { beforeAll, describe, expect, it } from 'vitest';
import { type MessageName, MessageSearch } from '#api/v2/locate.js';
import { Address } from '#formats/address/address.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import type { CommonMsgInfo } from '#formats/tlb/message.js';
import { Transaction } from '#formats/tlb/transaction.js';
import { toHex } from '#kernel/bytes.js';
import { FULL } from '#test/support/full-depth.js';
import { replayedChain } from '#test/support/replayed-chain.js';

const { chain } = replayedChain(`${import.meta.dirname}/../../../vectors/dev-chain`);

/** A message of the chain, with the transactions at its ends as they were met. */
interface Sent {
  readonly name: MessageName;
  sender: string | null;
  receiver: string | null;
  /** The receiver has no state afterwards that would lead to the transaction. */
  gone: boolean;
}

/** All messages between accounts in blocks of the basechain. */
async function messagesOf(seqnos: readonly [number, number]): Promise<Sent[]> {
  const sent = new Map<string, Sent>();
  const met = (name: MessageName) => {
    const key = `${name.source}>${name.destination}@${name.created_lt}`;
    const known = sent.get(key) ?? { name, sender: null, receiver: null, gone: false };
    sent.set(key, known);
    return known;
  };
  const [from, to] = seqnos;
  const tops = new Set<string>();
  for (let at = from; at <= to; at++) {
    for (const { block } of (await chain.shards({ at })).shards) {
      if (tops.has(toHex(block.root_hash)) || block.seqno === 0) continue;
      tops.add(toHex(block.root_hash));
      for (const { cell } of (await chain.allBlockTransactions({ at: block })).transactions) {
        const transaction = decodeCell(Transaction, cell);
        const hash = toHex(cell.hash());
        const name = transaction.in_msg === null ? null : nameOf(transaction.in_msg.value.info);
        if (name !== null) {
          const message = met(name);
          message.receiver = hash;
          message.gone = transaction.end_status === 'acc_state_nonexist';
        }
        for (const [, out] of transaction.out_msgs) {
          const outName = nameOf(out.value.info);
          if (outName !== null) met(outName).sender = hash;
        }
      }
    }
  }
  return [...sent.values()];
}

function nameOf(info: CommonMsgInfo): MessageName | null {
  if (info.kind !== 'int_msg_info' || !(info.src instanceof Address) || !(info.dest instanceof Address)) return null;
  return { source: info.src, destination: info.dest, created_lt: info.created_lt };
}

describe('the search for the ends of messages', () => {
  const search = new MessageSearch(chain, {});
  let messages: Sent[];

  beforeAll(async () => {
    messages = (await messagesOf([280, 340])).filter(({ sender, receiver }) => sender !== null && receiver !== null);
  });

  it('finds who sent them and who received them', async () => {
    const step = Math.ceil(messages.length / (FULL ? 80 : 20));
    const some = messages.filter((_, index) => index % step === 0);
    expect(some.length).toBeGreaterThan(FULL ? 40 : 10);
    for (const { name, sender, receiver } of some) {
      expect(toHex((await search.source(name))!.hash)).toBe(sender);
      expect(toHex((await search.result(name))!.hash)).toBe(receiver);
    }
  });

  it('finds receivers that have no state afterwards', async () => {
    const gone = messages.filter((message) => message.gone).slice(0, 5);
    expect(gone.length).toBeGreaterThan(0);
    for (const { name, receiver } of gone) expect(toHex((await search.result(name))!.hash)).toBe(receiver);
  });

  it('finds nothing for messages that nobody sent', async () => {
    const { name } = messages[0]!;
    const nobody = Address.ofParts(0, new Uint8Array(32).fill(7));
    for (const wrong of [
      { ...name, created_lt: name.created_lt + 1n },
      { ...name, source: nobody },
      { ...name, destination: nobody },
      { ...name, source: name.destination, destination: name.source },
      { ...name, created_lt: 0n },
      { ...name, created_lt: 10n ** 18n },
      { ...name, destination: Address.ofParts(5, name.destination.hash) },
    ]) {
      expect(await search.source(wrong)).toBeNull();
      expect(await search.result(wrong)).toBeNull();
    }
  });
});
