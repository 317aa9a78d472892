import { optional } from '#api/v3/serialize/dialect.js';
import { currenciesText, decimal, hashText } from '#api/v3/serialize/texts.js';
import type { StorageUsed } from '#formats/tlb/account.js';
import type { AccStatusChange } from '#formats/tlb/account-status.js';
import type {
  ComputeSkipReason,
  TrActionPhase,
  TrBouncePhase,
  TrComputePhase,
  TrCreditPhase,
  TrStoragePhase,
} from '#formats/tlb/transaction-phases.js';

const STATUS_CHANGES: Readonly<Record<AccStatusChange, string>> = {
  acst_unchanged: '"unchanged"',
  acst_frozen: '"frozen"',
  acst_deleted: '"deleted"',
};

const SKIP_REASONS: Readonly<Record<ComputeSkipReason, string>> = {
  cskip_no_state: '"no_state"',
  cskip_bad_state: '"bad_state"',
  cskip_no_gas: '"no_gas"',
  cskip_suspended: '"suspended"',
};

export function storagePhaseText(phase: TrStoragePhase): string {
  return (
    `{"storage_fees_collected":${decimal(phase.storage_fees_collected)}` +
    optional('storage_fees_due', maybeDecimal(phase.storage_fees_due)) +
    `,"status_change":${STATUS_CHANGES[phase.status_change]}}`
  );
}

export function creditPhaseText({ due_fees_collected, credit }: TrCreditPhase): string {
  return (
    (due_fees_collected === null ? '{' : `{"due_fees_collected":${decimal(due_fees_collected)},`) +
    `"credit":${decimal(credit.grams)}` +
    optional('credit_extra_currencies', credit.other.isEmpty ? null : currenciesText(credit.other)) +
    '}'
  );
}

export function computePhaseText(phase: TrComputePhase): string {
  if (phase.kind === 'tr_phase_compute_skipped') return `{"skipped":true,"reason":${SKIP_REASONS[phase.reason]}}`;
  return (
    `{"skipped":false,"success":${phase.success},"msg_state_used":${phase.msg_state_used}` +
    `,"account_activated":${phase.account_activated},"gas_fees":${decimal(phase.gas_fees)}` +
    `,"gas_used":${decimal(phase.gas_used)},"gas_limit":${decimal(phase.gas_limit)}` +
    optional('gas_credit', maybeDecimal(phase.gas_credit)) +
    `,"mode":${phase.mode},"exit_code":${phase.exit_code}` +
    optional('exit_arg', phase.exit_arg === null ? null : String(phase.exit_arg)) +
    `,"vm_steps":${phase.vm_steps},"vm_init_state_hash":${hashText(phase.vm_init_state_hash)}` +
    `,"vm_final_state_hash":${hashText(phase.vm_final_state_hash)}}`
  );
}

export function actionPhaseText(phase: TrActionPhase): string {
  return (
    `{"success":${phase.success},"valid":${phase.valid},"no_funds":${phase.no_funds}` +
    `,"status_change":${STATUS_CHANGES[phase.status_change]}` +
    optional('total_fwd_fees', maybeDecimal(phase.total_fwd_fees)) +
    optional('total_action_fees', maybeDecimal(phase.total_action_fees)) +
    `,"result_code":${phase.result_code}` +
    optional('result_arg', phase.result_arg === null ? null : String(phase.result_arg)) +
    `,"tot_actions":${phase.tot_actions},"spec_actions":${phase.spec_actions}` +
    `,"skipped_actions":${phase.skipped_actions},"msgs_created":${phase.msgs_created}` +
    `,"action_list_hash":${hashText(phase.action_list_hash)},"tot_msg_size":${sizeText(phase.tot_msg_size)}}`
  );
}

export function bouncePhaseText(phase: TrBouncePhase): string {
  switch (phase.kind) {
    case 'tr_phase_bounce_negfunds':
      return '{"type":"negfunds"}';
    case 'tr_phase_bounce_nofunds':
      return `{"type":"nofunds","msg_size":${sizeText(phase.msg_size)},"req_fwd_fees":${decimal(phase.req_fwd_fees)}}`;
    case 'tr_phase_bounce_ok':
      return (
        `{"type":"ok","msg_size":${sizeText(phase.msg_size)},"msg_fees":${decimal(phase.msg_fees)}` +
        `,"fwd_fees":${decimal(phase.fwd_fees)}}`
      );
  }
}

function sizeText({ cells, bits }: StorageUsed): string {
  return `{"cells":${decimal(cells)},"bits":${decimal(bits)}}`;
}

function maybeDecimal(value: bigint | null): string | null {
  return value === null ? null : decimal(value);
}
