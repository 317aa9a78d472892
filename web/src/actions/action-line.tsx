import { actionComment, actionSentence, type SentencePart } from '../actions/action-sentences.js';
import type { Action } from '../api/answers.js';
import { opcodeHex } from '../format/chain-text.js';
import { AccountLink } from '../parts/address.js';
import { AssetAmount, Ton } from '../parts/amount.js';
import { Moment } from '../parts/moment.js';
import { TraceLink } from '../parts/reference.js';
import { Untrusted } from '../parts/untrusted.js';

/** An action as a sentence, with its comment and time. */
export function ActionLine({ action, inTrace = false }: { readonly action: Action; readonly inTrace?: boolean }) {
  const { type, details, success, trace_id, end_utime, finality } = action;
  const comment = actionComment(details);
  const isPending = finality !== undefined && finality !== 'finalized';
  return (
    <article class={`action${success === false ? ' action-failed' : ''}`}>
      <ActionIcon type={type} failed={success === false} />
      <div class="action-body">
        <p class="action-sentence">
          {actionSentence(type, details).map((part, index) => (
            <Part key={index} part={part} />
          ))}
          {success === false && <span class="badge badge-bad">failed</span>}
          {isPending && <span class="badge badge-wait">{finality}</span>}
        </p>
        {comment !== null && (
          <p class="comment">
            <Untrusted text={comment} most={160} block />
          </p>
        )}
      </div>
      <div class="action-side">
        <Moment at={end_utime} />
        {!inTrace && trace_id != null && <TraceLink id={trace_id} text="trace" />}
      </div>
    </article>
  );
}

function Part({ part }: { readonly part: SentencePart }) {
  switch (part.kind) {
    case 'text':
      return <>{part.text}</>;
    case 'account':
      return <AccountLink address={part.address} bare />;
    case 'ton':
      return <Ton nano={part.nano} class="strong" />;
    case 'jetton':
      return <AssetAmount units={part.units} asset={part.asset} />;
    case 'opcode':
      return <code>{opcodeHex(part.opcode)}</code>;
    default:
      return <Untrusted text={part.text} most={40} />;
  }
}

/** A sign for the kind of an action; the sentence says the same. */
function ActionIcon({ type, failed }: { readonly type: string; readonly failed: boolean }) {
  return (
    <span class={`action-icon${failed ? ' action-icon-failed' : ''}`} aria-hidden="true">
      <svg viewBox="0 0 20 20" aria-hidden="true">
        <path d={ICONS.find(([pattern]) => pattern.test(type))?.[1] ?? DOT} />
      </svg>
    </span>
  );
}

const DOT = 'M10 7a3 3 0 1 0 0 6a3 3 0 1 0 0-6';

const ICONS: readonly (readonly [RegExp, string])[] = [
  [/swap|liquidity/, 'M4 7h11l-3-3M16 13H5l3 3'],
  [/mint|deploy|create|new_key/, 'M10 4v12M4 10h12'],
  [/burn|delete|release|cancel/, 'M5 5l10 10M15 5L5 15'],
  [/transfer|sent|send/, 'M4 10h11l-4-4M15 10l-4 4'],
  [/stake|deposit|supply|subscribe/, 'M10 3v10l-4-4M10 13l4-4M4 17h12'],
  [/withdraw|recover|claim|payout|refund/, 'M10 13V3L6 7M10 3l4 4M4 17h12'],
  [/nft|dns|teleitem|auction/, 'M4 4h12v12H4zM4 13l4-4 4 4 2-2 2 2'],
  [/multisig|vesting/, 'M6 9V7a4 4 0 0 1 8 0v2M5 9h10v7H5z'],
  [/call/, 'M7 6l-4 4 4 4M13 6l4 4-4 4'],
];
