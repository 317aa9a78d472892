import { useState } from 'preact/hooks';
import { opcodeHex } from '../format/chain-text.js';
import { AccountLink } from '../parts/address.js';
import { Ton } from '../parts/amount.js';
import { Sliced } from '../parts/sliced.js';
import { Untrusted } from '../parts/untrusted.js';
import { feesOf, outcomeOf, type TraceRow } from '../trace/trace-rows.js';
import { TransactionDetails } from '../trace/transaction-details.js';

/** Rows that are drawn at once. */
const SLICE = 200;

interface TreeProps {
  readonly rows: readonly TraceRow[];
  /** The hash of the transaction that is shown open; null: none. */
  readonly marked: string | null;
}

/** The transactions of a trace as a tree: who, what, how much, and how it ended. Each one opens to its details. */
export function TraceTree({ rows, marked }: TreeProps) {
  return (
    <div class="tree-frame">
      <Sliced
        rows={rows}
        step={SLICE}
        what="transactions"
        frame={(drawn) => <ol class={rows.length > SLICE ? 'tree tree-long' : 'tree'}>{drawn}</ol>}
        row={(row) => <TreeRow key={row.transaction.hash} row={row} isMarked={row.transaction.hash === marked} />}
      />
    </div>
  );
}

interface TreeRowProps {
  readonly row: TraceRow;
  readonly isMarked: boolean;
}

function TreeRow({ row, isMarked }: TreeRowProps) {
  const [isOpen, setOpen] = useState(isMarked);
  const { transaction, depth, continues } = row;
  const { in_msg, account, description } = transaction;
  const outcome = outcomeOf(transaction);
  const isExternal = in_msg != null && in_msg.source == null;
  return (
    <li class={`tree-row${isMarked ? ' tree-row-marked' : ''}`}>
      <div class="tree-line">
        <TreeLines depth={depth} continues={continues} />
        <button
          type="button"
          class="tree-toggle"
          aria-expanded={isOpen}
          aria-label={`Details of the transaction, level ${depth + 1}`}
          onClick={() => setOpen(!isOpen)}
        >
          <span class={`dot dot-${outcome.kind}`} />
        </button>
        <div class="tree-what">
          <div class="tree-main">
            <span class="tree-op">
              <Operation row={row} />
            </span>
            <span class="tree-to">
              {isExternal ? (
                <span class="muted">external-in</span>
              ) : in_msg == null ? (
                <span class="muted">{description.type.replaceAll('_', '-')}</span>
              ) : (
                <AccountLink address={in_msg.source} bare />
              )}
              <span class="arrow" aria-hidden="true">
                →
              </span>
              <span class="visually-hidden">to</span>
              <AccountLink address={account} bare />
            </span>
          </div>
          <div class="tree-sub">
            {outcome.kind === 'failure' ? (
              <span class="bad">{outcome.text}</span>
            ) : (
              <span class="muted">{outcome.text}</span>
            )}
            <Comment row={row} />
          </div>
        </div>
        <div class="tree-amount">
          {in_msg?.value != null && <Ton nano={in_msg.value} />}
          <span class="muted small">
            fees <Ton nano={feesOf(transaction)} />
          </span>
        </div>
      </div>
      {isOpen && <TransactionDetails transaction={transaction} inTrace />}
    </li>
  );
}

/** The lines that lead to a row. They are drawn for the first levels; deeper ones are numbered. */
function TreeLines({ depth, continues }: { readonly depth: number; readonly continues: readonly boolean[] }) {
  if (depth === 0) return null;
  return (
    <span class="tree-lines" aria-hidden="true">
      {continues.map((goesOn, index) => {
        const isOwn = index === depth - 1;
        const kind = isOwn ? (goesOn ? 'tee' : 'corner') : goesOn ? 'through' : 'gap';
        return <i key={index} class={`tree-${kind}`} />;
      })}
      {depth > continues.length && <b class="tree-depth">{depth}</b>}
    </span>
  );
}

/** What a message asks for: the name of its opcode, its comment, or that it only brings coins. */
function Operation({ row: { transaction } }: { readonly row: TraceRow }) {
  const { in_msg, description } = transaction;
  if (in_msg == null) return <>{description.is_tock === true ? 'tock' : 'without a message'}</>;
  // Several names of one opcode: which is meant is not known.
  const name = in_msg.decoded_opcode?.includes(',') === true ? null : in_msg.decoded_opcode;
  const opcode = opcodeHex(in_msg.opcode);
  if (in_msg.bounced === true) return <span class="op op-bounce">bounced</span>;
  if (name != null && name !== '') return <span class="op">{name.replaceAll('_', ' ')}</span>;
  if (opcode !== null && opcode !== '0x00000000') return <code class="op">{opcode}</code>;
  return <span class="op op-plain">{in_msg.source == null ? 'external message' : 'transfer'}</span>;
}

function Comment({ row: { transaction } }: { readonly row: TraceRow }) {
  const decoded = transaction.in_msg?.message_content?.decoded;
  const comment = decoded?.type === 'text_comment' ? decoded.comment : null;
  if (typeof comment !== 'string' || comment === '') return null;
  return (
    <span class="comment-inline">
      “<Untrusted text={comment} most={60} />”
    </span>
  );
}
