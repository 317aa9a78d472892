import { describe, expect, it } from 'vitest';
import { liteErrors } from '#drivers/lite/errors.js';
import type { LiteRequest, LiteSource } from '#drivers/lite/lite-source.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { openCell } from '#formats/cells/slice.js';
import { toHex } from '#kernel/bytes.js';
import { silentLogger } from '#kernel/logger.js';
import { Chain } from '#services/chain/chain.js';
import { KeyBlockMemory } from '#services/chain/key-blocks.js';
import { FakeClock } from '#test/support/fake-clock.js';
import { zerostateId } from '#test/support/genesis-chain.js';

/** `ext_in_msg_info$10 src:addr_none$00 dest:addr_std$10 import_fee:0`, no init, body in the same cell. */
function message(): Cell {
  return new Builder()
    .storeUint(0b10_00_100, 7)
    .storeUint(0, 8)
    .storeBytes(new Uint8Array(32).fill(0x33))
    .storeUint(0, 4 + 2)
    .storeUint(0xdead, 16)
    .endCell();
}

/** A source of which only `fanOut` is used. */
class OneAnswer implements LiteSource {
  readonly headSeqno = 0;
  readonly sent: { readonly name: string; readonly query: unknown; readonly count: number }[] = [];
  readonly #answer: () => unknown;

  constructor(answer: () => unknown) {
    this.#answer = answer;
  }

  query(): Promise<never> {
    return Promise.reject(new TypeError('nothing else is asked'));
  }

  async fanOut<Q, A, V>({ fn, query, verify }: LiteRequest<Q, A, V>, count: number): Promise<V> {
    this.sent.push({ name: fn.name, query, count });
    return verify(this.#answer() as A);
  }
}

function sender(answer: () => unknown) {
  const source = new OneAnswer(answer);
  const modules = { source, clock: new FakeClock(), keyBlocks: new KeyBlockMemory(), logger: silentLogger };
  return { source, chain: new Chain({ zero_state: zerostateId, sendFanOut: 3 }, modules) };
}

describe('an external message', () => {
  it('goes to several servers, and its hash comes back', async () => {
    const { source, chain } = sender(() => ({ status: 1 }));
    const body = serializeBoc([message()]);
    expect(toHex((await chain.send(body)).hash)).toBe(toHex(message().hash()));
    expect(source.sent).toEqual([{ name: 'liteServer.sendMessage', query: { body }, count: 3 }]);
  });

  it('that a node refuses comes back with what the node said', async () => {
    const text = 'cannot apply external message to current state : inbound external message rejected';
    const refusal = { server: 'a:1', function: 'liteServer.sendMessage', code: -701, text };
    const { chain } = sender(() => {
      throw liteErrors['answer-error'](refusal);
    });
    await expect(chain.send(serializeBoc([message()]))).rejects.toMatchObject({
      code: 'chain/message-refused',
      class: 'caller',
      data: { code: -701, text },
    });
  });

  it('is not sent if a status says that it was not', async () => {
    const { chain } = sender(() => ({ status: 0 }));
    await expect(chain.send(serializeBoc([message()]))).rejects.toMatchObject({ code: 'chain/incomplete-answer' });
  });

  it.each([
    ['garbage', new Uint8Array(100)],
    ['nothing', new Uint8Array()],
    ['an empty cell', serializeBoc([new Builder().endCell()])],
    ['two messages', serializeBoc([message(), new Builder().storeUint(1, 8).endCell()])],
    ['a message from a contract', serializeBoc([new Builder().storeUint(0, 500).storeUint(0, 500).endCell()])],
    ['too many bytes', new Uint8Array(65_536)],
    ['too deep cells', serializeBoc([deep(message(), 520)])],
  ])('is refused before it is sent: %s', async (_, body) => {
    const { chain, source } = sender(() => ({ status: 1 }));
    await expect(chain.send(body)).rejects.toMatchObject({ code: 'chain/message', class: 'caller' });
    expect(source.sent).toEqual([]);
  });
});

function deep(cell: Cell, depth: number): Cell {
  let chain = new Builder().endCell();
  for (let i = 0; i < depth; i++) chain = new Builder().storeRef(chain).endCell();
  return new Builder().storeSlice(openCell(cell)).storeRef(chain).endCell();
}
