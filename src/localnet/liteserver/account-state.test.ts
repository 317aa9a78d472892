import { describe, expect, it } from 'vitest';
import { Address } from '#formats/address/address.js';
import { iterateEntries } from '#formats/cells/dict-read.js';
import { verifyAccountState, verifyPrunedAccountState } from '#formats/proofs/account.js';
import { blockIdFromTl, blockIdToTl } from '#formats/tl/block-id.js';
import { Account } from '#formats/tlb/account.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { ShardStateUnsplit } from '#formats/tlb/shard-state.js';
import { accountStateHandlers } from '#localnet/liteserver/account-state.js';
import type { LedgerBlock } from '#localnet/liteserver/ledger.js';
import { errorCode } from '#test/support/error-code.js';
import { blockAt, contextOf, genesisLedger, refusal } from '#test/support/genesis-ledger.js';

const ledger = genesisLedger();
const context = contextOf(ledger);
const { 'liteServer.getAccountState': getState, 'liteServer.getAccountStatePrunned': getPruned } = accountStateHandlers;

function ask(handler: typeof getState | typeof getPruned, block: LedgerBlock, workchain: number, id: Uint8Array) {
  const answer = handler({ id: blockIdToTl(block.id), account: { workchain, id } }, context);
  return { ...answer, shard_block: blockIdFromTl(answer.shardblk) };
}

const masterchain = blockAt(ledger, 6);
const basechain = blockAt(ledger, 6, 0);
const accountIds = [
  ...iterateEntries(decodeCell(ShardStateUnsplit, ledger.state(masterchain)).accounts.value.root, 256),
].map(([key]) => key);

describe('the state of an account', () => {
  it('is proven, with all of it or without code and data', () => {
    expect(accountIds.length).toBeGreaterThan(5);
    for (const id of accountIds) {
      const address = Address.ofParts(-1, id);
      const whole = verifyAccountState(masterchain.id, address, ask(getState, masterchain, -1, id));
      const pruned = verifyPrunedAccountState(masterchain.id, address, ask(getPruned, masterchain, -1, id));
      expect(pruned.account!.hash(0)).toEqual(whole.account!.hash(0));
      const [full, short] = [whole, pruned].map(({ account }) => decodeCell(Account, account!));
      expect(short).toMatchObject({ kind: 'account', storage_stat: (full as { storage_stat: object }).storage_stat });
      const { state } = (short as Extract<Account, { kind: 'account' }>).storage;
      if (state.kind === 'account_active' && state.state_init.code !== null && state.state_init.code.refCount > 0) {
        expect(errorCode(() => decodeCell(Account, state.state_init.code!))).toBe('cells/pruned-branch');
      }
    }
  });

  it('is proven to be none: no account, no workchain', () => {
    const nobody = new Uint8Array(32).fill(0xab);
    for (const [block, workchain] of [
      [masterchain, -1],
      [masterchain, 0],
      [basechain, 0],
      [masterchain, 3],
    ] as const) {
      const answer = ask(getState, block, workchain, nobody);
      expect(verifyAccountState(block.id, Address.ofParts(workchain, nobody), answer).account).toBeNull();
      expect(answer.state).toHaveLength(0);
    }
  });

  it('is asked of the latest block by seqno -1', () => {
    const id = {
      ...blockIdToTl(masterchain.id),
      seqno: -1,
      root_hash: new Uint8Array(32),
      file_hash: new Uint8Array(32),
    };
    const answer = getState({ id, account: { workchain: -1, id: accountIds[0]! } }, context);
    expect(answer.id).toEqual(blockIdToTl(blockAt(ledger, 9).id));
  });

  it('is refused with respect to blocks that do not contain it', () => {
    const account = { workchain: -1, id: accountIds[0]! };
    const about = (id: Parameters<typeof getState>[0]['id'], of = account) =>
      refusal(() => getState({ id, account: of }, context));
    expect(about(blockIdToTl(basechain.id))).toMatch(/^-400 reference block .* must belong to the masterchain$/);
    const half = { ...blockIdToTl(basechain.id), shard: 1n << 62n };
    expect(about(half, { workchain: 0, id: new Uint8Array(32).fill(0xff) })).toMatch(
      /^-400 requested account id is not/,
    );
    expect(about({ ...blockIdToTl(masterchain.id), shard: 0n })).toMatch(/^-400 reference block id .* is invalid$/);
    expect(about(blockIdToTl(ledger.zerostate))).toMatch(/^651 cannot load block .*,0\):.* : not in db$/);
    const zero = { root_hash: new Uint8Array(32), file_hash: new Uint8Array(32) };
    expect(about({ ...blockIdToTl(basechain.id), ...zero }, { workchain: 0, id: new Uint8Array(32) })).toMatch(
      /^-400 invalid/,
    );
  });
});
