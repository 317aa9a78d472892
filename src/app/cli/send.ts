import process from 'node:process';
import { Command } from 'commander';
import { readInput } from '#app/cli/decode-input.js';
import type { CliEnvironment } from '#app/cli/environment.js';
import { cliErrors } from '#app/cli/errors.js';
import { localnetUrl } from '#app/cli/localnet.js';
import { wholeCell } from '#formats/cells/boc-parse.js';
import { normalizedExternalHash, readExternalInMessage } from '#formats/tlb/message.js';
import { toBase64, toHex } from '#kernel/bytes.js';
import { pause, systemClock } from '#kernel/clock.js';
import { isTernError } from '#kernel/tern-error.js';

interface SendOptions {
  readonly url?: string;
  readonly key?: string;
  readonly follow?: boolean;
  readonly json?: boolean;
}

/** A message that was sent, or what became of it, as the service answers. */
// biome-ignore lint/suspicious/noExplicitAny: answers of a service
type Answer = any;

/** Too many requests; busy, or not answering in time: the same request may succeed later. */
const PASSING: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** How often a step is asked for again, and after which pause. */
const MOST_RETRIES = 5;
const RETRY_MS = 1_000;

/** A long poll takes so long at most. */
const POLL_SECONDS = 30;

/** Nodes forget a message after 600 s. */
const MOST_POLLS = 22;

/** `tern send`: sends a message, and follows it until its transactions are final. */
export function sendCommand(environment: CliEnvironment): Command {
  return new Command('send')
    .description('send a signed external-in message, and with --follow wait for what becomes of it')
    .argument('<message>', 'file with the message, - for standard input, or the BoC in hex or base64')
    .option('--url <url>', 'URL of a service with API v3; default: TERN_URL, or the local network')
    .option('--key <key>', 'API key; default: TERN_API_KEY')
    .option('--follow', 'wait until its transactions are final, and print each step')
    .option('--json', 'print JSON, one line for each step')
    .action(async (input: string, options: SendOptions, command: Command) => {
      const write = command.configureOutput().writeOut ?? ((text: string) => void process.stdout.write(text));
      const [, second] = command.args;
      if (second !== undefined) throw cliErrors.usage({ problem: `send takes one message; unexpected "${second}"` });
      const { boc, hash } = messageOf(input);
      const service = new Service(localnetUrl(options.url, environment), options.key ?? environment.TERN_API_KEY);
      const sent = await service.ask('message', { method: 'POST', body: JSON.stringify({ boc: toBase64(boc) }) });
      const print = (step: Answer, text: string) => write(options.json === true ? `${JSON.stringify(step)}\n` : text);
      print(sent, `sent ${sent.message_hash}\nnormalised hash ${sent.message_hash_norm ?? toBase64(hash)}\n`);
      if (options.follow !== true) return;
      const last = await follow(service, hash, (step) => print(step, stepText(step)));
      if (last.success !== true) {
        throw cliErrors['message-failed']({ status: last.status, problem: problemOf(last) });
      }
    });
}

/** @throws cli/input */
function messageOf(input: string): { readonly boc: Uint8Array; readonly hash: Uint8Array } {
  const read = readInput(input);
  if (read.source === 'address') throw cliErrors.input({ argument: input, problem: 'is an address, not a message' });
  try {
    const { message } = readExternalInMessage(wholeCell(read.bytes), read.bytes);
    return { boc: read.bytes, hash: normalizedExternalHash(message) };
  } catch (error) {
    if (!isTernError(error)) throw error;
    throw cliErrors.input({ argument: shorten(input), problem: `is no external-in message: ${error.message}` }, error);
  }
}

function shorten(text: string): string {
  return text.length <= 60 ? text : `${text.slice(0, 40)}…`;
}

/** Asks again and again until nothing more will happen. @returns the last step */
async function follow(service: Service, hash: Uint8Array, show: (step: Answer) => void): Promise<Answer> {
  let shown: Answer = null;
  for (let polls = 0; polls < MOST_POLLS; ) {
    const after = shown === null ? 'unknown' : shown.status;
    const step = await retried(() => service.ask(`follow/${toHex(hash)}?timeout=${POLL_SECONDS}&after=${after}`, {}));
    if (shown !== null && step.status === shown.status && !step.settled) polls++;
    else show(step);
    shown = step;
    if (step.settled) return step;
  }
  throw cliErrors['message-failed']({ status: shown?.status ?? 'unknown', problem: 'nothing happened for too long' });
}

/** @throws as the work, when it fails again and again */
async function retried(work: () => Promise<Answer>): Promise<Answer> {
  for (let retries = 0; ; retries++) {
    try {
      return await work();
    } catch (error) {
      if (!isTernError(error, 'cli/send-busy') || retries === MOST_RETRIES) throw error;
      await pause(RETRY_MS, systemClock);
    }
  }
}

function stepText({ status, mc_block_seqno, transactions, trace_id }: Answer): string {
  const all = transactions.pending + transactions.confirmed + transactions.finalized;
  const count = all === 0 ? '' : `: ${all} transaction${all === 1 ? '' : 's'}`;
  const block = mc_block_seqno === null ? '' : `, masterchain block ${mc_block_seqno}`;
  const trace = status === 'finalized' && trace_id !== null ? `\ntrace ${trace_id}` : '';
  return `${status}${count}${block}${trace}\n`;
}

function problemOf({ problem, failures }: Answer): string {
  if (typeof problem === 'string') return problem;
  const [first] = failures;
  return first === undefined ? 'no transaction of it is known' : `account ${first.account}: ${first.explanation}`;
}

/** A service with API v3. */
class Service {
  readonly #url: string;
  readonly #key: string | undefined;

  constructor(url: string, key: string | undefined) {
    this.#url = url.replace(/\/+$/, '').replace(/\/api\/v3$/, '');
    this.#key = key;
  }

  /** @throws cli/send-source, cli/send-refused, cli/send-no-api, cli/send-busy */
  async ask(path: string, init: RequestInit): Promise<Answer> {
    const url = `${this.#url}/api/v3/${path}`;
    const headers = {
      ...(init.body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...(this.#key === undefined ? {} : { 'X-API-Key': this.#key }),
    };
    let status: number;
    let answer: Answer;
    try {
      const response = await fetch(url, { ...init, headers });
      status = response.status;
      answer = await response.json();
    } catch (error) {
      const { cause, message } = error as { readonly cause?: { readonly code?: unknown }; readonly message: string };
      throw cliErrors['send-source']({ url: this.#url, problem: String(cause?.code ?? message) }, error);
    }
    if (status === 200) return answer;
    if (status === 404 && path === 'message') throw cliErrors['send-no-api']({ url: this.#url });
    const problem = String(answer?.error ?? `status ${status}`);
    throw PASSING.has(status)
      ? cliErrors['send-busy']({ problem, status })
      : cliErrors['send-refused']({ problem, status });
  }
}
