import { useState } from 'preact/hooks';
import { type ApiProblem, ask } from '../../api/ask.js';
import { methodId } from '../../chain/method-id.js';
import { countText } from '../../format/amount.js';
import { exitCodeText } from '../../format/exit-code.js';
import { JsonText } from '../../parts/facts.js';
import { ProblemNotice } from '../../parts/notice.js';

/** Get-methods of known standards: what an id stands for can only be found by trying names. */
const KNOWN_NAMES = [
  ...['seqno', 'get_public_key', 'get_subwallet_id', 'get_wallet_id', 'is_signature_allowed', 'get_plugin_list'],
  ...[
    'is_plugin_installed',
    'get_extensions',
    'is_signature_auth_allowed',
    'processed?',
    'get_timeout',
    'get_last_clean_time',
  ],
  ...['get_jetton_data', 'get_wallet_address', 'get_wallet_data', 'get_status', 'get_next_admin_address', 'is_claimed'],
  ...['get_collection_data', 'get_nft_address_by_index', 'get_nft_content', 'get_nft_data', 'royalty_params'],
  ...['get_editor', 'get_revoked_time', 'get_authority_address', 'get_sale_data', 'get_auction_data'],
  ...['dnsresolve', 'get_domain', 'get_auction_info', 'get_last_fill_up_time', 'get_telemint_token_name'],
  ...['get_telemint_auction_state', 'get_telemint_auction_config', 'get_full_domain'],
  ...[
    'get_multisig_data',
    'get_order_address',
    'get_order_data',
    'get_order_estimate',
    'get_vesting_data',
    'get_locked_amount',
  ],
  ...[
    'is_whitelisted',
    'get_whitelist',
    'get_pool_data',
    'get_reserves',
    'get_assets',
    'get_pool_full_data',
    'get_pool_status',
    'get_params',
    'get_staking_status',
    'get_roles',
  ],
  ...[
    'active_election_id',
    'participant_list',
    'participant_list_extended',
    'participates_in',
    'compute_returned_stake',
    'past_elections',
  ],
  ...[
    'list_proposals',
    'get_proposal',
    'get_version',
    'get_owner',
    'owner',
    'balance',
    'get_balance',
    'get_nominator_data',
    'list_nominators',
  ],
];

const NAMES = new Map(KNOWN_NAMES.map((name) => [methodId(name), name]));

interface RunAnswer {
  readonly gas_used: number;
  readonly exit_code: number;
  readonly stack: readonly { readonly type: string; readonly value: unknown }[];
}

interface GetMethodsProps {
  readonly raw: string;
  /** Ids of the methods that the code lists. */
  readonly methods: readonly number[];
  readonly hasCode: boolean;
}

/** The get-methods of a contract, to be called from here. */
export function GetMethods({ raw, methods, hasCode }: GetMethodsProps) {
  const [method, setMethod] = useState('');
  const [stack, setStack] = useState('');
  const [result, setResult] = useState<RunAnswer | null>(null);
  const [problem, setProblem] = useState<ApiProblem | string | null>(null);
  const [isRunning, setRunning] = useState(false);
  if (!hasCode) return <p class="muted">There is no contract at this address.</p>;

  const run = async (name: string) => {
    const values = stackOf(stack);
    setResult(null);
    if (typeof values === 'string') {
      setProblem(values);
      return;
    }
    setProblem(null);
    setRunning(true);
    try {
      const body = { address: raw, method: name, stack: values };
      setResult((await ask<RunAnswer>('/api/v3/runGetMethod', { body })).value);
    } catch (error) {
      setProblem(error as ApiProblem);
    } finally {
      setRunning(false);
    }
  };
  const named = methods.flatMap((id) => NAMES.get(id) ?? []);
  return (
    <div class="get-methods">
      {named.length > 0 && (
        <p class="chips">
          {named.map((name) => (
            <button key={name} type="button" class="chip" onClick={() => setMethod(name)}>
              {name}
            </button>
          ))}
        </p>
      )}
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void run(method.trim());
        }}
      >
        <label>
          Method
          <input
            value={method}
            onInput={(event) => setMethod(event.currentTarget.value)}
            placeholder="seqno"
            required
            maxLength={128}
          />
        </label>
        <label>
          Arguments, one per line
          <textarea
            rows={3}
            value={stack}
            onInput={(event) => setStack(event.currentTarget.value)}
            placeholder={'num 42\ncell te6cc…\nslice te6cc…'}
          />
        </label>
        <button type="submit" class="button" disabled={isRunning}>
          {isRunning ? 'Running…' : 'Call'}
        </button>
      </form>
      {typeof problem === 'string' && <p class="bad">{problem}</p>}
      {problem !== null && typeof problem !== 'string' && <ProblemNotice problem={problem} what="get-method" />}
      {result !== null && (
        <div aria-live="polite">
          <p>
            Exit code {result.exit_code}
            {exitCodeText(result.exit_code) !== null && ` (${exitCodeText(result.exit_code)})`},{' '}
            {countText(result.gas_used)} gas.
          </p>
          <JsonText value={result.stack} />
        </div>
      )}
    </div>
  );
}

/** The arguments that somebody typed; a sentence when one is none. */
function stackOf(text: string): readonly { readonly type: string; readonly value: string }[] | string {
  const values: { type: string; value: string }[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const [type = '', value = ''] = line.trim().split(/\s+/, 2);
    const isNumber = type === 'num' && /^-?(\d{1,80}|0x[0-9a-fA-F]{1,64})$/.test(value);
    const isCell = (type === 'cell' || type === 'slice') && value !== '';
    if (!isNumber && !isCell) return `Line ${index + 1} is no argument: num, cell or slice, a blank, and the value.`;
    values.push({ type, value: isNumber ? numberText(value) : value });
  }
  return values;
}

function numberText(value: string): string {
  const number = value.startsWith('-0x') ? -BigInt(value.slice(1)) : BigInt(value);
  return number < 0n ? `-0x${(-number).toString(16)}` : `0x${number.toString(16)}`;
}
