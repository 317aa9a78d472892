import type { ComponentChildren } from 'preact';
import type { Message, Transaction } from '../api/answers.js';
import { amountLine, countText, integerOf } from '../format/amount.js';
import { opcodeHex } from '../format/chain-text.js';
import { actionCodeText, exitCodeText, skipReasonText } from '../format/exit-code.js';
import { AccountLink } from '../parts/address.js';
import { Ton } from '../parts/amount.js';
import { Fact, Facts, JsonText } from '../parts/facts.js';
import { Moment } from '../parts/moment.js';
import { BlockLink, HashText, McBlockLink, TransactionLink } from '../parts/reference.js';
import { Untrusted } from '../parts/untrusted.js';

interface DetailsProps {
  readonly transaction: Transaction;
  /** Shorter: the row above says the rest. */
  readonly inTrace?: boolean;
}

/** A transaction phase by phase, with its messages. */
export function TransactionDetails({ transaction, inTrace = false }: DetailsProps) {
  const { description, in_msg, out_msgs, account_state_before: before, account_state_after: after } = transaction;
  const { storage_ph, credit_ph, compute_ph, action, bounce } = description;
  return (
    <div class={inTrace ? 'details details-inset' : 'details'}>
      <Facts>
        {inTrace && (
          <Fact name="Transaction">
            <TransactionLink hash={transaction.hash} />
          </Fact>
        )}
        <Fact name="Time">
          <Moment at={transaction.now} full />
        </Fact>
        <Fact name="Logical time">
          <span class="mono">{transaction.lt}</span>
        </Fact>
        {transaction.block_ref != null && (
          <Fact name="Block">
            <BlockLink block={transaction.block_ref} />
            {transaction.mc_block_seqno != null && transaction.block_ref.workchain !== -1 && (
              <>
                {' '}
                in masterchain block <McBlockLink seqno={transaction.mc_block_seqno} />
              </>
            )}
          </Fact>
        )}
        <Fact name="Account status">{statusText(transaction)}</Fact>
        {before?.balance != null && after?.balance != null && (
          <Fact name="Balance">
            <Ton nano={before.balance} /> → <Ton nano={after.balance} />
          </Fact>
        )}
        <Fact name="Total fees" hint="What the validators got, without the fees of messages that it sent">
          <Ton nano={transaction.total_fees} />
        </Fact>
      </Facts>
      <div class="phases">
        {storage_ph != null && (
          <Phase title="Storage">
            collected <Ton nano={storage_ph.storage_fees_collected} />
            {storage_ph.storage_fees_due != null && (
              <>
                , due <Ton nano={storage_ph.storage_fees_due} />
              </>
            )}
          </Phase>
        )}
        {credit_ph != null && (
          <Phase title="Credit">
            <Ton nano={credit_ph.credit ?? '0'} /> credited
          </Phase>
        )}
        {compute_ph != null && <ComputePart phase={compute_ph} />}
        {action != null && (
          <Phase title="Action" failed={action.success === false}>
            {action.success === false
              ? `failed with ${action.result_code}${wordsAfter(actionCodeText(action.result_code ?? 0))}`
              : `${countText(action.msgs_created ?? 0)} messages`}
            {(action.skipped_actions ?? 0) > 0 && `, ${action.skipped_actions} actions skipped`}
            {action.total_action_fees != null && (
              <>
                , fees <Ton nano={action.total_action_fees} />
              </>
            )}
          </Phase>
        )}
        {bounce != null && (
          <Phase title="Bounce" failed>
            {bounce.type === 'ok'
              ? 'the coins were sent back'
              : `nothing was sent back (${bounce.type.replaceAll('_', ' ')})`}
          </Phase>
        )}
      </div>
      {in_msg != null && <MessagePart title="Inbound message" message={in_msg} />}
      {out_msgs.map((message, index) => (
        <MessagePart key={message.hash} title={`Outbound message ${index + 1}`} message={message} />
      ))}
      <details class="raw">
        <summary>The same as JSON</summary>
        <JsonText value={transaction} />
      </details>
    </div>
  );
}

function statusText({ orig_status, end_status }: Transaction): string {
  return orig_status === end_status ? end_status : `${orig_status} → ${end_status}`;
}

function wordsAfter(words: string | null): string {
  return words === null ? '' : ` (${words})`;
}

interface PhaseProps {
  readonly title: string;
  readonly failed?: boolean;
  readonly children: ComponentChildren;
}

function Phase({ title, failed = false, children }: PhaseProps) {
  return (
    <div class={`phase${failed ? ' phase-failed' : ''}`}>
      <h4>{title}</h4>
      <p>{children}</p>
    </div>
  );
}

function ComputePart({ phase }: { readonly phase: NonNullable<Transaction['description']['compute_ph']> }) {
  if (phase.skipped === true) return <Phase title="Compute">skipped: {skipReasonText(phase.reason ?? '')}</Phase>;
  const code = phase.exit_code ?? 0;
  const gas = integerOf(phase.gas_used);
  return (
    <Phase title="Compute" failed={phase.success === false}>
      exit code {code}
      {wordsAfter(exitCodeText(code))}, {gas === null ? '?' : countText(gas)} gas in {countText(phase.vm_steps ?? 0)}{' '}
      steps for <Ton nano={phase.gas_fees} />
      {phase.exit_arg != null && phase.exit_arg !== 0 && `, argument ${phase.exit_arg}`}
    </Phase>
  );
}

/** A message with its decoded body. */
function MessagePart({ title, message }: { readonly title: string; readonly message: Message }) {
  const { decoded, body } = message.message_content ?? {};
  const opcode = opcodeHex(message.opcode);
  return (
    <section class="message">
      <h4>{title}</h4>
      <Facts>
        <Fact name="From">
          {message.source == null ? <span class="muted">outside</span> : <AccountLink address={message.source} />}
        </Fact>
        <Fact name="To">
          {message.destination == null ? (
            <span class="muted">outside</span>
          ) : (
            <AccountLink address={message.destination} />
          )}
        </Fact>
        {message.value != null && (
          <Fact name="Value">
            <Ton nano={message.value} />
            <ExtraCurrencies of={message.value_extra_currencies} />
          </Fact>
        )}
        {message.fwd_fee != null && (
          <Fact name="Forward fee">
            <Ton nano={message.fwd_fee} />
          </Fact>
        )}
        {message.import_fee != null && (
          <Fact name="Import fee">
            <Ton nano={message.import_fee} />
          </Fact>
        )}
        {opcode !== null && (
          <Fact name="Opcode">
            <code>{opcode}</code>
            {message.decoded_opcode != null && ` ${message.decoded_opcode}`}
          </Fact>
        )}
        <Fact name="Flags">
          {[
            message.bounce === true ? 'bounceable' : 'not bounceable',
            ...(message.bounced === true ? ['bounced'] : []),
            ...(message.init_state != null ? ['with state init'] : []),
          ].join(', ')}
        </Fact>
        <Fact name="Hash">
          <HashText hash={message.hash} what="message hash" />
        </Fact>
        {message.hash_norm != null && message.hash_norm !== message.hash && (
          <Fact name="Normalized hash" hint="TEP-467: the same for all ways to write an external-in message">
            <HashText hash={message.hash_norm} what="normalized message hash" />
          </Fact>
        )}
      </Facts>
      {decoded != null && <DecodedBody decoded={decoded} />}
      {body != null && body !== '' && (
        <details class="raw">
          <summary>Body as BoC ({countText(Math.floor((body.length * 3) / 4))} bytes)</summary>
          <p class="mono wrap">{body.slice(0, 20_000)}</p>
        </details>
      )}
    </section>
  );
}

function ExtraCurrencies({ of }: { readonly of: Readonly<Record<string, string>> | null | undefined }) {
  const entries = Object.entries(of ?? {});
  if (entries.length === 0) return null;
  return (
    <span class="muted">
      {' '}
      and {entries.map(([id, units]) => `${amountLine(integerOf(units) ?? 0n, 0)} of extra currency ${id}`).join(', ')}
    </span>
  );
}

/** Members that say what the whole is, not what is in it. */
const TYPE_MEMBERS = new Set(['@type', 'type', 'opcode']);

/** A body that was decoded by its schema. */
export function DecodedBody({ decoded }: { readonly decoded: Readonly<Record<string, unknown>> }) {
  const name = decoded['@type'] ?? decoded.type;
  const members = Object.entries(decoded).filter(([member]) => !TYPE_MEMBERS.has(member));
  return (
    <div class="decoded">
      <p class="decoded-name">{String(name ?? 'decoded body').replaceAll('_', ' ')}</p>
      <table class="decoded-table">
        <tbody>
          {members.map(([member, value]) => (
            <tr key={member}>
              <th scope="row">{member.replaceAll('_', ' ')}</th>
              <td>
                <DecodedValue value={value} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const RAW_ADDRESS = /^-?\d+:[0-9A-Fa-f]{64}$/;

function DecodedValue({ value }: { readonly value: unknown }) {
  if (value === null || value === undefined) return <span class="muted">–</span>;
  if (typeof value === 'string' && RAW_ADDRESS.test(value)) return <AccountLink address={value} />;
  if (typeof value === 'string') return <Untrusted text={value} most={200} block />;
  if (typeof value === 'object') return <Untrusted text={JSON.stringify(value)} most={300} block />;
  return <span class="mono">{String(value)}</span>;
}
