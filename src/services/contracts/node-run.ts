import { NO_CODE } from '#drivers/tvm/get-method.js';
import { getMethodId } from '#drivers/tvm/get-method-id.js';
import type { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { verifyAccount } from '#formats/proofs/account.js';
import type { TransactionRef } from '#formats/proofs/account-transactions.js';
import type { BlockId } from '#formats/proofs/block-id.js';
import { blockIdToTl } from '#formats/tl/block-id.js';
import { LiteServerRunSmcMethod } from '#formats/tl/generated/lite-server-functions.js';
import { decodeCell, encodeCell } from '#formats/tlb/codec/codec.js';
import { VmStack } from '#formats/tlb/vm-stack.js';
import { vmInt } from '#formats/tlb/vm-value.js';
import type { Call } from '#services/chain/call.js';
import { chainErrors } from '#services/chain/errors.js';
import { expectBlock, keepBlockId } from '#services/chain/tl-block-id.js';

/** A get method for a node to run. */
export interface NodeRunQuestion {
  readonly address: Address;
  readonly method: string | number;
  readonly stack: VmStack;
  /** The masterchain block whose state is to be used. */
  readonly block: BlockId;
}

/** What a node says came of it. That is not proven; what the account is, is. */
export interface NodeRun {
  readonly exit_code: number;
  readonly stack: VmStack;
  readonly last_transaction: TransactionRef | null;
}

/** Bits of the mode: proofs of the account's state, and the stack. */
const WITH_PROOFS = 1;
const WITH_RESULT = 4;

/** What nodes say of an account without code. */
const NOT_ACTIVE = -256;

/**
 * Has a liteserver run a get method (`liteServer.runSmcMethod`). An account without code gives {@link NO_CODE} and the
 * stack that the run would have begun with, as when it runs here.
 *
 * @throws chain/*, lite/*
 */
export async function runOnNode(call: Call, { address, method, stack, block }: NodeRunQuestion): Promise<NodeRun> {
  const method_id = getMethodId(method);
  const { value } = await call.ask({
    fn: LiteServerRunSmcMethod,
    query: {
      mode: WITH_PROOFS | WITH_RESULT,
      id: blockIdToTl(block),
      account: { workchain: address.workchain, id: address.hash },
      method_id: BigInt(method_id),
      params: serializeBoc(encodeCell(VmStack, stack)),
    },
    need: { kind: 'state', seqno: block.seqno },
    verify: (answer) => {
      expectBlock(answer.id, block);
      const { shard_proof, proof, exit_code, result } = answer;
      if (shard_proof === null || proof === null || result === null) {
        throw chainErrors['incomplete-answer']({ problem: 'a get method comes without proof or result' });
      }
      const shard_block = keepBlockId(answer.shardblk);
      const { shard_account } = verifyAccount(block, address, { shard_block, shard_proof, proof });
      const { last_trans_lt = 0n, last_trans_hash } = shard_account ?? {};
      const last_transaction = last_trans_lt === 0n ? null : { lt: last_trans_lt, hash: last_trans_hash! };
      if (exit_code === NOT_ACTIVE && result.length === 0) {
        return { exit_code: NO_CODE, stack: [...stack, vmInt(method_id)], last_transaction };
      }
      return { exit_code, stack: decodeCell(VmStack, parseBocRoot(result)), last_transaction };
    },
  });
  return value;
}
