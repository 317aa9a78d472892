import type { LiveBody, RawParameters } from '#api/http/endpoint.js';
import { httpErrors } from '#api/http/errors.js';
import type { Profile } from '#api/http/http-api.js';
import { liveSyntaxProblem } from '#api/http/json-body.js';
import { v3Errors } from '#api/v3/errors.js';
import { type Address, parseAddress } from '#formats/address/address.js';
import { parseBocRoot } from '#formats/cells/boc-parse.js';
import type { Cell } from '#formats/cells/cell.js';
import { decodeCell } from '#formats/tlb/codec/codec.js';
import { Message } from '#formats/tlb/message.js';
import { isTernError } from '#kernel/tern-error.js';
import type { TonConnectTransfer } from '#services/emulation/ton-connect.js';

/*
 * Input of emulations. In the `toncenter` profile it is read as by the live service, and refused with its texts; in the other one
 * the parameter is named.
 */

/** Types of the live service by the names that its texts have. */
type LiveType = 'string' | 'bool' | 'uint32' | 'uint64' | '[]main.TonConnectMessage';

const FLAGS: Readonly<Record<string, LiveType>> = {
  with_actions: 'bool',
  include_code_data: 'bool',
  include_address_book: 'bool',
  include_metadata: 'bool',
  mc_block_seqno: 'uint32',
};
const TRACE_MEMBERS: Readonly<Record<string, LiveType>> = { boc: 'string', ignore_chksig: 'bool', ...FLAGS };
const TON_CONNECT_MEMBERS: Readonly<Record<string, LiveType>> = {
  from: 'string',
  messages: '[]main.TonConnectMessage',
  valid_until: 'uint64',
  ...FLAGS,
};
const MESSAGE_MEMBERS: Readonly<Record<string, LiveType>> = {
  address: 'string',
  amount: 'string',
  payload: 'string',
  stateInit: 'string',
};

/** The body of `emulateTrace` as the live service reads it. @throws v3/emulate-request */
export function liveTraceBody(body: LiveBody): RawParameters {
  const read = liveMembers(bodyValue(body, TRACE_MEMBERS, 'EmulateRequest'), TRACE_MEMBERS, 'EmulateRequest.');
  if (read.boc === undefined || read.boc === '') throw badRequest('boc is required');
  return read;
}

const MOST_MESSAGES = 4;

/** The body of `emulateTonConnect` as the live service reads it. @throws v3/emulate-request */
export function liveTonConnectBody(body: LiveBody): RawParameters {
  const value = bodyValue(body, TON_CONNECT_MEMBERS, 'TonConnectEmulateRequest');
  const read = liveMembers(value, TON_CONNECT_MEMBERS, 'TonConnectEmulateRequest.');
  const given = (read.messages ?? []) as readonly unknown[];
  const messages = given.map((message) => {
    if (message === null) return {};
    const found = typeOf(message);
    if (found !== 'object') {
      throw wrongType(found, message, 'TonConnectEmulateRequest.messages', 'main.TonConnectMessage' as LiveType);
    }
    return liveMembers(message as RawParameters, MESSAGE_MEMBERS, 'TonConnectMessage.messages.');
  });
  if (read.from === undefined || read.from === '') throw badRequest('from address is required for emulation');
  if (messages.length === 0) throw badRequest('messages array cannot be empty');
  if (messages.length > MOST_MESSAGES)
    throw badRequest(`messages array cannot contain more than ${MOST_MESSAGES} messages`);
  for (const [i, { address, amount }] of messages.entries()) {
    if (address === undefined || address === '') throw badRequest(`message at index ${i} cannot be empty`);
    if (amount === undefined || amount === '') throw badRequest(`amount in message at index ${i} cannot be empty`);
  }
  return { ...read, messages };
}

/** The members of a body: JSON, or a form. @param name of its type in texts of the live service */
function bodyValue(
  { type, json, text }: LiveBody,
  members: Readonly<Record<string, LiveType>>,
  name: string,
): RawParameters {
  // curl calls JSON a form unless it is told otherwise.
  const isForm = type === FORM && !/^\s*\{/.test(text());
  if (isForm) return formValue(new URLSearchParams(text()), members);
  if (type !== FORM && type?.endsWith('json') !== true) throw badRequest('Unprocessable Entity');
  let value: unknown;
  try {
    value = json();
  } catch (error) {
    if (!isTernError(error, 'http/bad-json')) throw error;
    throw badRequest(liveSyntaxProblem(text(), String(error.data.problem)));
  }
  const found = typeOf(value);
  if (value === null) return {};
  if (found !== 'object') throw badRequest(`json: cannot unmarshal ${found} into Go value of type main.${name}`);
  return value as RawParameters;
}

const FORM = 'application/x-www-form-urlencoded';

/** The members of a form: texts, with those of other types read from them. */
function formValue(form: URLSearchParams, members: Readonly<Record<string, LiveType>>): RawParameters {
  const types = new Map(Object.entries(members).map(([name, type]) => [name.toLowerCase(), type]));
  const read: RawParameters = {};
  for (const [name, text] of form) {
    const type = types.get(name.toLowerCase());
    const isFlag = type === 'bool' && /^(?:true|false)$/.test(text);
    const isNumber = (type === 'uint32' || type === 'uint64') && /^\d{1,15}$/.test(text);
    read[name] = isFlag ? text === 'true' : isNumber ? Number(text) : text;
  }
  return read;
}

/** @param place how the live service names what the members belong to */
function liveMembers(raw: RawParameters, members: Readonly<Record<string, LiveType>>, place: string): RawParameters {
  const names = new Map(Object.keys(members).map((name) => [name.toLowerCase(), name]));
  const read: RawParameters = {};
  for (const [given, value] of Object.entries(raw)) {
    const name = names.get(given.toLowerCase());
    if (name === undefined || value === null) continue;
    read[name] = liveValue(value, members[name]!, `${place}${name}`);
  }
  return read;
}

/** Long integers of a body are their digits (see `parseJsonBody`). */
const LONG_INTEGER = /^-?\d{16,}$/;
const LARGEST = { uint32: 0xffff_ffffn, uint64: (1n << 64n) - 1n } as const;

function liveValue(value: unknown, wanted: LiveType, member: string): unknown {
  const found = typeOf(value);
  if (wanted === 'uint32' || wanted === 'uint64') {
    const isNumber = found === 'number' || (found === 'string' && LONG_INTEGER.test(value as string));
    if (!isNumber) throw wrongType(found, value, member, wanted);
    const isWhole = typeof value === 'string' || Number.isSafeInteger(value);
    const whole = isWhole ? BigInt(value as string | number) : -1n;
    if (whole < 0n || whole > LARGEST[wanted]) throw wrongType('number', value, member, wanted);
    return wanted === 'uint32' ? Number(whole) : Number(scaledSeconds(whole));
  }
  const isRight = wanted === 'string' ? found === 'string' : wanted === 'bool' ? found === 'bool' : found === 'array';
  if (!isRight) throw wrongType(found, value, member, wanted);
  return value;
}

/** Milliseconds, microseconds and nanoseconds become seconds; what is left is cut to 32 bits. */
function scaledSeconds(value: bigint): bigint {
  let seconds = value;
  while (seconds >= 100_000_000_000n) seconds /= 1000n;
  return seconds & 0xffff_ffffn;
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

function wrongType(found: string, value: unknown, member: string, wanted: LiveType): Error {
  const shown = found === 'number' && wanted.startsWith('uint') ? `number ${String(value)}` : found;
  return badRequest(`json: cannot unmarshal ${shown} into Go struct field ${member} of type ${wanted}`);
}

function badRequest(problem: string): Error {
  return v3Errors['emulate-request']({ problem });
}

function failed(problem: string, cause?: unknown): Error {
  return v3Errors['emulate-failed']({ problem }, cause);
}

/** A bag of cells that a request gives. */
interface GivenBoc {
  /** Of the parameter: `boc`, `messages`. */
  readonly parameter: string;
  readonly text: string;
  /** What texts of the live service begin with: of bad base64, and of bad cells. */
  readonly live: { readonly base64: string; readonly cells: string };
}

/** @throws v3/emulate-request, v3/emulate-failed, http/bad-parameter */
function decodeGivenBoc({ parameter, text, live }: GivenBoc, profile: Profile): Cell {
  const at = base64Problem(text);
  const named = (problem: string, cause?: unknown) => httpErrors['bad-parameter']({ parameter, problem }, cause);
  if (at !== null) {
    if (profile === 'toncenter') throw badRequest(`${live.base64}illegal base64 data at input byte ${at}`);
    throw named(`it is not base64 in the standard alphabet, with padding: see byte ${at}`);
  }
  if (/[\r\n]/.test(text)) {
    if (profile === 'spec') throw named('it has line breaks');
    if (parameter === 'boc') throw failed("Can't decode base64 boc: [Error : 0 : Wrong padding length]");
  }
  const bytes = Buffer.from(text, 'base64');
  try {
    return parseBocRoot(bytes);
  } catch (error) {
    if (!isTernError(error)) throw error;
    if (profile === 'spec') throw named(`it is base64, but not a bag of cells: ${error.message}`, error);
    const problem = `cannot deserialize bag-of-cells: ${liveCellsProblem(error.code, error.data, bytes.length)}`;
    throw failed(parameter === 'boc' ? `${live.cells}[Error : 0 : ${problem}]` : `${live.cells}${problem}`, error);
  }
}

const LEAST_HEADER = 10;

function liveCellsProblem(code: string, data: Readonly<Record<string, unknown>>, length: number): string {
  if (length < LEAST_HEADER) return `not enough bytes (${length} present, ${LEAST_HEADER} required)`;
  if (code === 'cells/boc-truncated') {
    return `not enough bytes (${length} present, ${Number(data.byte) + Number(data.needed)} required)`;
  }
  if (code === 'cells/boc-crc') {
    return `bag-of-cells CRC32C mismatch: expected 0x${String(data.computed)}, found 0x${String(data.stored)}`;
  }
  return 'invalid header, error 0';
}

/** Where standard base64 with padding is wrong, as Go's decoder counts; null: nowhere. Line breaks are skipped. */
function base64Problem(text: string): number | null {
  const other = text.search(/[^A-Za-z0-9+/\r\n]/);
  const end = other < 0 ? text.length : other;
  const breaks = text.slice(0, end).match(/[\r\n]/g)?.length ?? 0;
  const quantum = (end - breaks) % 4;
  if (other < 0) return quantum === 0 ? null : text.length - quantum;
  if (text[end] !== '=' || quantum < 2) return end;
  const rest = text.slice(end + 1).replace(/[\r\n]/g, '');
  const missing = quantum === 2 ? '=' : '';
  if (rest === missing) return null;
  if (quantum === 2 && !rest.startsWith('=')) return text.length;
  return end + 1 + missing.length;
}

/** The message of `boc`. @throws v3/emulate-request, v3/emulate-failed, http/bad-parameter */
export function decodeMessage(text: string, profile: Profile): Cell {
  const live = { base64: 'invalid boc: ', cells: "Can't deserialize message boc: " };
  const cell = decodeGivenBoc({ parameter: 'boc', text, live }, profile);
  try {
    const { info } = decodeCell(Message, cell);
    if (info.kind !== 'ext_out_msg_info') return cell;
  } catch (error) {
    if (!isTernError(error)) throw error;
    if (profile === 'spec') {
      const problem = `it is a cell, but no message: ${error.message}`;
      throw httpErrors['bad-parameter']({ parameter: 'boc', problem }, error);
    }
    const isInternal = cell.bits > 0 && (cell.bytes[cell.dataOffset]! & 0x80) === 0;
    const problem = isInternal ? "Can't unpack internal message" : 'Ext out message found';
    throw failed(`in msg found with no destination: ${problem}`, error);
  }
  const problem = 'it is an external-out message, which nobody receives';
  if (profile === 'spec') throw httpErrors['bad-parameter']({ parameter: 'boc', problem });
  throw failed('in msg found with no destination: Ext out message found');
}

/** An address and whether its form asks for bounces. @throws v3/emulate-failed, http/bad-parameter */
function decodeAddress(text: string, parameter: string, live: string, profile: Profile) {
  try {
    const { address, bounceable } = parseAddress(text);
    return { address, bounceable: bounceable ?? true };
  } catch (error) {
    if (!isTernError(error)) throw error;
    if (profile === 'toncenter') throw failed(live, error);
    throw httpErrors['bad-parameter']({ parameter, problem: error.message }, error);
  }
}

/** The wallet of `from`. @throws v3/emulate-failed, http/bad-parameter */
export function decodeWallet(text: string, profile: Profile): Address {
  return decodeAddress(text, 'from', `Invalid address format: ${text}`, profile).address;
}

/** A message of a request of TON Connect. */
export interface GivenTransfer {
  readonly address: string;
  /** Decimal digits: nanotons. */
  readonly amount: string;
  readonly payload?: string | null | undefined;
  readonly stateInit?: string | null | undefined;
}

const LARGEST_AMOUNT = (1n << 64n) - 1n;
/** The live service packs signed numbers. */
const LARGEST_LIVE_AMOUNT = (1n << 63n) - 1n;

/** @throws v3/emulate-request, v3/emulate-failed, http/bad-parameter */
export function decodeTransfer(
  { address, amount: digits, payload = null, stateInit = null }: GivenTransfer,
  index: number,
  profile: Profile,
): TonConnectTransfer {
  const amount = decodeAmount(digits, index, profile);
  const part = (text: string | null, name: string, liveName: string) =>
    text === null
      ? null
      : decodeGivenBoc(
          {
            parameter: `messages.${index}.${name}`,
            text,
            live: {
              base64: `invalid message ${name} at index ${index}: `,
              cells: `Failed to compose external message: Failed to deserialize ${liveName} cell: `,
            },
          },
          profile,
        );
  const payloadCell = part(payload, 'payload', 'payload');
  const state_init = part(stateInit, 'stateInit', 'state init');
  const live = 'Failed to compose external message: Failed to parse account address';
  const dest = decodeAddress(address, `messages.${index}.address`, live, profile);
  if (profile === 'toncenter' && amount > LARGEST_LIVE_AMOUNT) {
    throw failed('Failed to compose external message: Failed to pack CurrencyCollection for value');
  }
  return { dest: dest.address, bounce: dest.bounceable, amount, payload: payloadCell, state_init };
}

function decodeAmount(digits: string, index: number, profile: Profile): bigint {
  const isNumber = /^[0-9]{1,100}$/.test(digits);
  const amount = isNumber ? BigInt(digits) : 0n;
  if (isNumber && amount <= LARGEST_AMOUNT) return amount;
  if (profile === 'spec') {
    const problem = 'it must be nanotons in decimal digits, below 2^64';
    throw httpErrors['bad-parameter']({ parameter: `messages.${index}.amount`, problem });
  }
  const why = isNumber ? 'value out of range' : 'invalid syntax';
  throw badRequest(
    `invalid amount in message at index ${index}: strconv.ParseUint: parsing ${JSON.stringify(digits)}: ${why}`,
  );
}
