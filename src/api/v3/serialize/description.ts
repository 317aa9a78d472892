import { optional } from '#api/v3/serialize/dialect.js';
import {
  actionPhaseText,
  bouncePhaseText,
  computePhaseText,
  creditPhaseText,
  storagePhaseText,
} from '#api/v3/serialize/phases.js';
import { hashText } from '#api/v3/serialize/texts.js';
import type { TransactionDescr } from '#formats/tlb/transaction.js';
import type { SplitMergeInfo } from '#formats/tlb/transaction-descr.js';

/** `description` of a transaction: what kind it is, and its phases. What a kind does not have is left out. */
export function descriptionText(descr: TransactionDescr): string {
  switch (descr.kind) {
    case 'trans_ord':
      return (
        `{"type":"ord","aborted":${descr.aborted},"destroyed":${descr.destroyed},"credit_first":${descr.credit_first}` +
        `${phasesText(descr)}}`
      );
    case 'trans_tick_tock':
      return (
        `{"type":"tick_tock","aborted":${descr.aborted},"destroyed":${descr.destroyed},"is_tock":${descr.is_tock}` +
        `${phasesText(descr)}}`
      );
    case 'trans_storage':
      return `{"type":"storage"${phasesText(descr)}}`;
    case 'trans_split_prepare':
      return (
        `{"type":"split_prepare","aborted":${descr.aborted},"destroyed":${descr.destroyed}` +
        `${phasesText(descr)},"split_info":${splitInfoText(descr.split_info)}}`
      );
    case 'trans_split_install':
      return `{"type":"split_install","installed":${descr.installed},"split_info":${splitInfoText(descr.split_info)}}`;
    case 'trans_merge_prepare':
      return (
        `{"type":"merge_prepare","aborted":${descr.aborted}${phasesText(descr)}` +
        `,"split_info":${splitInfoText(descr.split_info)}}`
      );
    case 'trans_merge_install':
      return (
        `{"type":"merge_install","aborted":${descr.aborted},"destroyed":${descr.destroyed}` +
        `${phasesText(descr)},"split_info":${splitInfoText(descr.split_info)}}`
      );
  }
}

type Ordinary = Extract<TransactionDescr, { kind: 'trans_ord' }>;
type Phases = Partial<Pick<Ordinary, 'storage_ph' | 'credit_ph' | 'compute_ph' | 'action' | 'bounce'>>;

function phasesText({ storage_ph, credit_ph, compute_ph, action, bounce }: Phases): string {
  return (
    optional('storage_ph', storage_ph ? storagePhaseText(storage_ph) : null) +
    optional('credit_ph', credit_ph ? creditPhaseText(credit_ph) : null) +
    optional('compute_ph', compute_ph === undefined ? null : computePhaseText(compute_ph)) +
    optional('action', action ? actionPhaseText(action.value) : null) +
    optional('bounce', bounce ? bouncePhaseText(bounce) : null)
  );
}

/** Both halves of the account; 32 bytes each, as the live service writes them. */
function splitInfoText({ cur_shard_pfx_len, acc_split_depth, this_addr, sibling_addr }: SplitMergeInfo): string {
  return (
    `{"cur_shard_pfx_len":${cur_shard_pfx_len},"acc_split_depth":${acc_split_depth}` +
    `,"this_addr":${hashText(this_addr)},"sibling_addr":${hashText(sibling_addr)}}`
  );
}
