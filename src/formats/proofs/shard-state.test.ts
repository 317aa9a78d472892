import { describe, expect, it } from 'vitest';
import { Address } from '#formats/address/address.js';
import { Builder } from '#formats/cells/builder.js';
import type { Cell } from '#formats/cells/cell.js';
import { verifyAccountState, verifyPrunedAccountState } from '#formats/proofs/account.js';
import { verifyBlockHeader } from '#formats/proofs/block-header.js';
import {
  keyBlockConfig,
  stateConfig,
  verifyBlockCreateStats,
  verifyConfig,
  verifyKeyBlockConfig,
  verifyLibraries,
  verifyOutMsgQueueSize,
  verifyState,
} from '#formats/proofs/shard-state.js';
import { Account } from '#formats/tlb/account.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { errorCode, errorOf } from '#test/support/error-code.js';
import {
  bag,
  genesisBlocks,
  headerProof,
  proofOf,
  zerostate,
  zerostateBytes,
  zerostateId,
} from '#test/support/genesis-chain.js';

const blocks = genesisBlocks(-1);
const block = blocks[5]!;
const other = blocks[6]!;
const header = headerProof(block);
const stateProof = (read: (state: ShardStateUnsplit) => void, from: Cell = block.state): Cell =>
  proofOf(from, (root) => read(decodeCell(ShardStateUnsplit, root)));

const config = Address.ofParts(-1, new Uint8Array(32).fill(0x55));
const absent = Address.ofParts(-1, new Uint8Array(32).fill(0x77));

describe('the state of an account', () => {
  const proofFor = (address: Address, from = block) =>
    stateProof((state) => void state.accounts.value.get(address.hash), from.state);
  const account = decodeCell(ShardStateUnsplit, block.state).accounts.value.get(config.hash)!.account.cell;
  const answer = {
    shard_block: block.id,
    shard_proof: new Uint8Array(0),
    proof: bag(header, proofFor(config)),
    state: bag(account),
  };

  it('is proven by header and state of the block', () => {
    const proven = verifyAccountState(block.id, config, answer);
    expect(proven.account!.hash()).toEqual(account.hash());
    expect(proven.shard_account!.last_trans_lt).toBeGreaterThan(0n);
    expect(proven.shard_state!.header!.info.seq_no).toBe(5);
  });

  it('may be shown in part', () => {
    const pruned = proofOf(account, (root) => void decodeCell(Account, root));
    const proven = verifyPrunedAccountState(block.id, config, { ...answer, state: bag(pruned) });
    expect(proven.account!.hash(0)).toEqual(account.hash());
    const wrong = proofOf(block.state, () => {});
    expect(errorCode(() => verifyPrunedAccountState(block.id, config, { ...answer, state: bag(wrong) }))).toBe(
      'proofs/account-state',
    );
    expect(errorCode(() => verifyPrunedAccountState(block.id, config, answer))).toBe('proofs/malformed');
  });

  it('may be that there is no account', () => {
    const none = { ...answer, proof: bag(header, proofFor(absent)), state: new Uint8Array(0) };
    expect(verifyAccountState(block.id, absent, none)).toMatchObject({ account: null, shard_account: null });
    const invented = { ...none, state: answer.state };
    expect(errorCode(() => verifyAccountState(block.id, absent, invented))).toBe('proofs/account-absent');
  });

  it('may be that there is no such workchain, but the masterchain is always there', () => {
    const shown = stateProof((state) => void state.custom!.value.shard_hashes.get(5));
    const nowhere = {
      workchain: -(2 ** 31),
      shard: 0n,
      seqno: 0,
      root_hash: block.id.root_hash,
      file_hash: block.id.file_hash,
    };
    const none = {
      shard_block: nowhere,
      shard_proof: bag(header, shown),
      proof: new Uint8Array(0),
      state: new Uint8Array(0),
    };
    const elsewhere = Address.ofParts(5, config.hash);
    expect(verifyAccountState(block.id, elsewhere, none)).toEqual({
      shard_state: null,
      shard_account: null,
      account: null,
    });
    expect(errorCode(() => verifyAccountState(block.id, config, none))).toBe('proofs/shard-of-account');
    const basechain = stateProof((state) => void state.custom!.value.shard_hashes.get(0)!.value);
    const lie = { ...none, shard_proof: bag(header, basechain) };
    expect(errorCode(() => verifyAccountState(block.id, Address.ofParts(0, config.hash), lie))).toBe(
      'proofs/shard-present',
    );
  });

  it('is refused at the link that breaks', () => {
    const codeOf = (change: Partial<typeof answer>, address = config, id = block.id) =>
      errorCode(() => verifyAccountState(id, address, { ...answer, ...change }));
    expect(codeOf({ state: new Uint8Array(0) })).toBe('proofs/account-present');
    expect(codeOf({ state: bag(other.root) })).toBe('proofs/account-state');
    expect(codeOf({ state: bag(account, account) })).toBe('proofs/root-count');
    expect(codeOf({ proof: bag(header) })).toBe('proofs/root-count');
    expect(codeOf({ proof: bag(header, proofFor(config, other)) })).toBe('proofs/state-hash');
    expect(codeOf({ proof: bag(headerProof(other), proofFor(config)) })).toBe('proofs/root-hash');
    expect(
      codeOf({
        proof: bag(
          header,
          stateProof(() => {}),
        ),
      }),
    ).toBe('proofs/incomplete');
    expect(
      codeOf({
        proof: bag(
          proofOf(block.root, () => {}),
          proofFor(config),
        ),
      }),
    ).toBe('proofs/incomplete');
    expect(codeOf({ proof: bag(block.root, proofFor(config)) })).toBe('proofs/malformed');
    expect(codeOf({}, Address.ofParts(0, config.hash))).toBe('proofs/shard-of-account');
    expect(codeOf({ shard_block: other.id })).toBe('proofs/malformed');
    expect(codeOf({}, config, { ...block.id, workchain: 0 })).toBe('proofs/not-masterchain');
  });

  it('names the cell and the place that a proof leaves out', () => {
    const error = errorOf(() =>
      verifyAccountState(block.id, config, {
        ...answer,
        proof: bag(
          header,
          stateProof(() => {}),
        ),
      }),
    );
    expect(error).toMatchObject({ code: 'proofs/incomplete', class: 'upstream', path: 'proof.state.accounts' });
  });
});

describe('the configuration', () => {
  const proof = stateProof((state) => void state.custom!.value.config.config.get(34));

  it('is proven by header and state of a masterchain block', () => {
    const { config: params } = stateConfig(verifyConfig(block.id, bag(header), bag(proof)));
    const whole = decodeCell(ShardStateUnsplit, block.state).custom!.value.config.config;
    expect(params.get(34)!.hash(0)).toEqual(whole.get(34)!.hash());
    expect(errorCode(() => params.get(0))).toBe('cells/pruned-branch');
  });

  it('is proven by a zerostate itself', () => {
    const shown = stateProof((state) => void state.custom!.value.config.config.get(34), zerostate);
    expect(stateConfig(verifyState(zerostateId, new Uint8Array(0), bag(shown))).config.get(34)).toBeDefined();
    expect(errorCode(() => verifyState(zerostateId, new Uint8Array(0), bag(proof)))).toBe('proofs/root-hash');
    expect(errorCode(() => verifyState(zerostateId, new Uint8Array(0), zerostateBytes))).toBe('proofs/malformed');
  });

  it('is refused of another block, and of one that is no key block', () => {
    expect(errorCode(() => verifyConfig(other.id, bag(header), bag(proof)))).toBe('proofs/root-hash');
    expect(errorCode(() => verifyConfig(other.id, bag(headerProof(other)), bag(proof)))).toBe('proofs/state-hash');
    expect(errorCode(() => verifyKeyBlockConfig(block.id, bag(header)))).toBe('proofs/no-key-block');
    expect(errorCode(() => keyBlockConfig(verifyBlockHeader(bag(header), block.id)))).toBe('proofs/no-key-block');
  });

  it('is not in the state of a shard', () => {
    const shard = genesisBlocks(0)[3]!;
    const state = verifyState(shard.id, bag(headerProof(shard)), bag(stateProof(() => {}, shard.state)));
    expect(errorCode(() => stateConfig(state))).toBe('proofs/not-masterchain');
  });
});

describe('libraries, queue size and statistics', () => {
  const hash = new Uint8Array(32).fill(1);
  const shown = stateProof((state) => {
    state.totals.value.libraries.get(hash);
    state.out_msg_queue_info.value;
    state.custom!.value.info.value;
  });
  const proofs = { state_proof: bag(header), data_proof: bag(shown) };

  it('report that a library does not exist', () => {
    expect(verifyLibraries(block.id, [hash], { result: [], ...proofs })).toEqual([]);
    const invented = { result: [{ hash, data: bag(new Builder().endCell()) }], ...proofs };
    expect(errorCode(() => verifyLibraries(block.id, [hash], invented))).toBe('proofs/library-list');
    expect(errorCode(() => verifyLibraries(block.id, [], invented))).toBe('proofs/library-list');
  });

  it('report that a state does not state a queue size', () => {
    expect(errorCode(() => verifyOutMsgQueueSize(block.id, 0n, bag(header, shown)))).toBe('proofs/queue-size');
  });

  it('report how many blocks were made', () => {
    const stats = verifyBlockCreateStats(block.id, bag(header), bag(shown));
    const whole = decodeCell(ShardStateUnsplit, block.state).custom!.value.info.value.block_create_stats;
    expect(stats?.kind).toBe(whole?.kind);
    expect(stats?.counters.root?.hash(0)).toEqual(whole?.counters.root?.hash());
  });
});
