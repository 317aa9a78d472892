import type { Address } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import { serializeBoc } from '#formats/cells/boc-serialize.js';
import { EMPTY_CELL } from '#formats/cells/builder.js';
import { Account } from '#formats/tlb/account.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { toHex } from '#kernel/bytes/bytes.js';
import type { ForeignAccount } from '#services/indexer/contracts/chain-questions.js';
import type { ContractCodes } from '#services/indexer/contracts/contract-codes.js';
import type { ContractState } from '#services/indexer/contracts/contract-state.js';

/** The state of an account as a server gave it; null: there is none. @throws tlb/*, cells/* */
export async function foreignState(
  address: Address,
  foreign: ForeignAccount,
  codes: ContractCodes,
): Promise<ContractState | null> {
  const account = decodeCell(Account, parseBocRoot(foreign.boc));
  if (account.kind === 'account_none') return null;
  const { balance, state } = account.storage;
  const init = state.kind === 'account_active' ? state.state_init : null;
  const { last_trans_lt, mc_seqno, gen_utime } = foreign;
  const code = init?.code ?? null;
  const data = init?.data ?? null;
  const hash = code === null ? '' : toHex(code.hash());
  return {
    address,
    balance: balance.grams,
    extra_currencies: [...balance.other],
    ...{ last_trans_lt, mc_seqno, gen_utime },
    code_hash: code?.hash() ?? null,
    data_hash: data?.hash() ?? null,
    running:
      code === null
        ? null
        : {
            code: codes.get(hash) ?? (await codes.add(hash, code, serializeBoc(code).length)),
            data: data ?? EMPTY_CELL,
          },
    incomplete: false,
    foreign,
  };
}
