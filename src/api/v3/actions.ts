import { type StaticDecode, type TObject, type TSchema, Type } from '@sinclair/typebox';
import { type AnyEndpoint, type JsonText, textOfJson } from '#api/http/endpoint.js';
import type { Profile } from '#api/http/http-api.js';
import { tracesOfAccountDependency } from '#api/v3/answer-keys.js';
import {
  type AnswerMembers,
  type AnswerPage,
  type AnswerType,
  type AnswerValue,
  address,
  addressList,
  answerType,
  answerValue,
  boc,
  currencies,
  decimal,
  flag,
  hash,
  integer,
  type JsonWriter,
  jsonOf,
  list,
  nullable,
  optional,
  required,
  text,
  WritersOnUse,
  word,
  writeAnswerJson,
} from '#api/v3/answer-type.js';
import { type V3Context, v3Endpoint } from '#api/v3/context.js';
import { v3Errors } from '#api/v3/errors.js';
import type { WrittenTransaction } from '#api/v3/kept-texts.js';
import { checkPage, listAnswer, pageOf, requireIndexedMcBlock } from '#api/v3/page.js';
import {
  excludeSystemParameter,
  invalidParameter,
  pageFields,
  quotedInput,
  seqnoParameter,
  sortParameter,
  timeParameters,
  v3AccountParameter,
  v3HashListParameter,
} from '#api/v3/parameters.js';
import { pagePrice, ROW_PRICE } from '#api/v3/price.js';
import { transactionRow, writeTransaction } from '#api/v3/transactions.js';
import { ACTION_TYPES } from '#domain/actions/action-registry.js';
import type { ActionType, DetailField, DetailFields, FieldKinds } from '#domain/actions/action-type.js';
import { expandActionTypes } from '#domain/actions/action-versions.js';
import type { ActionTypeFilter, IndexedAction } from '#drivers/store/read/actions.js';
import type { IndexedTransaction } from '#drivers/store/read/index-types.js';
import { toBase64, toHex } from '#kernel/bytes.js';

// Details: schema and writer of each type follow from its declaration in domain/actions.

/** A value of a field as it is stored: BoCs are bytes. */
type FieldValue<Kind extends keyof FieldKinds> = Kind extends 'boc' | 'bare_boc' ? Uint8Array : FieldKinds[Kind];

/** Opcodes are in hexadecimal in both profiles, as in all documents. */
function opcodeText(description: string): AnswerValue<number> {
  const schema = Type.String({ description: `${description} \`0x\` and 8 hexadecimal digits.` });
  return answerValue(schema, (value) => `"0x${value.toString(16).padStart(8, '0')}"`);
}

function hexText(description: string): AnswerValue<Uint8Array> {
  return answerValue(Type.String({ description: `${description} In hexadecimal.` }), (value) => `"${toHex(value)}"`);
}

const SCALARS: {
  readonly [Kind in keyof FieldKinds]: (description: string) => AnswerValue<FieldValue<Kind>>;
} = {
  address,
  addresses: addressList,
  amount: decimal,
  integer,
  flag,
  text,
  hex: hexText,
  hash,
  opcode: opcodeText,
  boc,
  bare_boc: boc,
  currencies: () => currencies,
};

/** Objects of lists and records by their names, each once. */
const objects = new Map<string, AnswerType<unknown>>();

function objectOf(name: string, fields: DetailFields, description: string): AnswerType<unknown> {
  let known = objects.get(name);
  if (known === undefined) {
    known = OBJECTS[name]?.(fields) ?? (answerType(name, detailMembers(fields), description) as AnswerType<unknown>);
    objects.set(name, known);
  }
  return known;
}

function detailMembers(fields: DetailFields): AnswerMembers {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, memberOf(field)]));
}

function memberOf(field: DetailField): AnswerMembers[string] {
  if (field.kind === 'record') return objectOf(field.name, field.fields, field.description);
  if (field.kind === 'list') return list(objectOf(field.name, field.fields, field.description), field.description);
  const { kind, presence, description, known } = field;
  if (kind === 'currencies') return currencies;
  const value =
    known.length > 0
      ? text(`${description} Known: ${known.join(', ')}.`)
      : (SCALARS[kind](description) as AnswerValue<unknown>);
  return presence === 'optional' ? optional(value) : nullable(value);
}

interface DnsValue {
  readonly sum_type: string | null;
  readonly dns_text: string | null;
  readonly dns_storage_address: unknown;
}

/**
 * Objects that the live service writes otherwise than it documents them: under /toncenter the text of a DNS record stands in
 * `dns_storage_address`.
 */
const OBJECTS: Readonly<Record<string, (fields: DetailFields) => AnswerType<unknown>>> = {
  ChangeDnsValue: (fields) => {
    const written = answerType('ChangeDnsValue', detailMembers(fields), 'The new value of a DNS record.');
    const { schema, write } = written as AnswerType<unknown>;
    const moved = answerType(
      'ChangeDnsValue',
      { ...detailMembers(fields), dns_storage_address: nullable(text('Of a text record: the text.')) },
      '',
    ) as AnswerType<unknown>;
    return {
      schema,
      write: {
        spec: (value, page) => write.spec(value, page),
        toncenter: (value, page) => {
          const { dns_text } = value as DnsValue;
          if (dns_text === null) return write.toncenter(value, page);
          return moved.write.toncenter({ ...(value as DnsValue), dns_text: null, dns_storage_address: dns_text }, page);
        },
      },
    };
  },
};

/** `jetton_swap` as a part of the name of a schema: `JettonSwap`. */
function schemaPart(type: string): string {
  return type.replace(/(?:^|_)([a-z0-9])/g, (_, first: string) => first.toUpperCase());
}

/** Types of which the live service says that it does not support them. */
const UNSUPPORTED: ReadonlySet<string> = new Set(['unknown', 'coffee_mev_protect_failed_swap']);

function detailsOf({ name, description, fields }: ActionType): AnswerValue<unknown> {
  const { schema, write } = answerType(`ActionDetails${schemaPart(name)}`, detailMembers(fields), description);
  const isEmpty = Object.keys(fields).length === 0;
  const error = UNSUPPORTED.has(name) ? JSON.stringify({ error: `unsupported action type: '${name}'` }) : null;
  const writer = (profile: Profile): JsonWriter<unknown> => {
    if (error !== null && profile === 'toncenter') return () => error;
    return isEmpty ? () => '{}' : (write[profile] as JsonWriter<unknown>);
  };
  return { schema, write: new WritersOnUse(writer) };
}

// Actions

/** An action of the index, or of a trace that is not indexed yet. */
export interface AnswerAction extends Omit<IndexedAction, 'position' | 'root' | 'trace_id'> {
  /** Null while the first transaction of the trace is emulated. */
  readonly trace_id: Uint8Array | null;
  /** Lowest of its transactions; absent: it is of the index, `finalized`. */
  readonly finality?: string;
}

/** What an action is written from. */
export interface ActionSource {
  readonly action: AnswerAction;
  readonly withAccounts: boolean;
  /** Null: not asked for. */
  readonly transactions: readonly (IndexedTransaction | WrittenTransaction)[] | null;
}

const hashes = answerValue<readonly Uint8Array[]>(
  Type.Array(Type.String(), { description: 'Hashes of its transactions by logical time, in base64.' }),
  (all) => `[${all.map((each) => `"${toBase64(each)}"`).join(',')}]`,
);

const transactionsFull = answerValue<NonNullable<ActionSource['transactions']>>(
  Type.Array(transactionRow.schema, { description: 'With `include_transactions`: its transactions.' }),
  (all, page) =>
    `[${all.map((each) => ('json' in each ? each.json : textOfJson(writeTransaction(each, page).json))).join(',')}]`,
);

/** The members of actions of one type. */
function actionMembers(type: TSchema, details: TSchema) {
  return {
    trace_id: nullable(
      hash('The trace that it is a part of: hash of its first transaction. None while that is emulated.'),
      ({ action }: ActionSource) => action.trace_id,
    ),
    action_id: required(
      hash('Identifies the action: always the same for the same chain.'),
      ({ action }: ActionSource) => action.action_id,
    ),
    start_lt: required(decimal('Logical time of its first message.'), ({ action }: ActionSource) => action.start_lt),
    end_lt: required(decimal('Logical time of its last transaction.'), ({ action }: ActionSource) => action.end_lt),
    start_utime: required(
      integer('Of its first message: unix time in seconds.'),
      ({ action }: ActionSource) => action.start_utime,
    ),
    end_utime: required(
      integer('Of its last transaction: unix time in seconds.'),
      ({ action }: ActionSource) => action.end_utime,
    ),
    trace_end_lt: required(
      decimal('Logical time of the end of the trace.'),
      ({ action }: ActionSource) => action.trace_end_lt,
    ),
    trace_end_utime: required(
      integer('Of the end of the trace: unix time in seconds.'),
      ({ action }: ActionSource) => action.trace_end_utime,
    ),
    trace_mc_seqno_end: required(
      integer('Masterchain block that commits the end of the trace.'),
      ({ action }: ActionSource) => action.trace_mc_seqno_end,
    ),
    transactions: required(hashes, ({ action }: ActionSource) => action.transactions),
    success: nullable(flag('Whether what was intended happened.'), ({ action }: ActionSource) => action.success),
    type: required({ ...word(''), schema: type }, ({ action }: ActionSource) => outputType(action)),
    details: required(jsonOf(details), ({ details: json }: ActionSource & { readonly details: string }) => json),
    trace_external_hash: optional(
      hash('The message that started the trace.'),
      ({ action }: ActionSource) => action.trace_external_hash,
    ),
    trace_external_hash_norm: optional(
      hash('Its normalized hash (TEP-467), where that is another one.'),
      ({ action }: ActionSource) => action.trace_external_hash_norm,
    ),
    accounts: optional(
      addressList('With `include_accounts`: the participants.'),
      ({ action, withAccounts }: ActionSource) => (withAccounts ? action.accounts : null),
    ),
    transactions_full: optional(transactionsFull, ({ transactions }: ActionSource) => transactions),
    finality: required(
      word(
        '`finalized`: the masterchain has committed all of it, as of all actions of the index. `confirmed`, `pending`: the lowest of ' +
          'its transactions.',
        { enum: ['pending', 'confirmed', 'finalized'] },
      ),
      ({ action }: ActionSource) => action.finality ?? 'finalized',
    ),
  };
}

/** Transfers and calls with other currencies have a type of their own in answers. */
const WITH_CURRENCIES = 'extra_currency_transfer';

function outputType({ type, details }: AnswerAction): string {
  const other =
    type === 'ton_transfer'
      ? details.value_extra_currencies
      : type === 'call_contract'
        ? details.extra_currencies
        : null;
  return other != null && (other as ReadonlyMap<number, bigint>).size > 0 ? WITH_CURRENCIES : type;
}

const DETAILS: ReadonlyMap<string, AnswerValue<unknown>> = new Map(
  Array.from(ACTION_TYPES.values(), (type) => [type.name, detailsOf(type)]),
);

function actionSchema(name: string, details: TSchema, description: string): TObject {
  return answerType(`Action${schemaPart(name)}`, actionMembers(Type.Literal(name), details), description).schema;
}

/** One schema for each type, so that clients know the details by it. */
const ActionSchema = Type.Union(
  [
    ...Array.from(ACTION_TYPES.values(), ({ name, description }) =>
      actionSchema(name, DETAILS.get(name)!.schema, description),
    ),
    actionSchema(
      WITH_CURRENCIES,
      Type.Union(['ton_transfer', 'call_contract'].map((name) => DETAILS.get(name)!.schema)),
      'A transfer or a call that carries other currencies than TON.',
    ),
  ],
  { $id: 'Action', discriminator: { propertyName: 'type' }, description: 'What happened, by its type.' },
);

/** Writes all types: they differ in their details only. */
const AnyAction = answerType('Action', actionMembers(Type.String(), Type.Object({})));

/** An action as an answer value. */
export const actionValue = answerValue<ActionSource>(ActionSchema, (source, page) => {
  const { type, details } = source.action;
  // Types that were removed from the classifier have no layout here; their rows are replaced by a rederivation.
  const json = DETAILS.get(type)?.write[page.profile](details, page) ?? '{}';
  return writeAnswerJson(AnyAction, { ...source, details: json }, page);
});

/** JSON of the actions of a trace. */
export function actionsJson(actions: readonly IndexedAction[], page: AnswerPage): string {
  const source = { withAccounts: false, transactions: null };
  return `[${actions.map((action) => writeAnswerJson(actionValue, { ...source, action }, page)).join(',')}]`;
}

// Parameters

const LATEST = 'latest';
const MOST_TYPES = 200;

/** A name of a type, a version or a shortcut. @throws v3/parameter-value */
function decodeTypeName(given: string): string {
  if (/^[A-Za-z0-9_.]{1,100}$/.test(given)) return given;
  throw invalidParameter(`${quotedInput(given)} is not a type of actions: letters, digits, _ and . only`);
}

function typeList(description: string) {
  const item = Type.Transform(Type.String()).Decode(decodeTypeName).Encode(String);
  return Type.Optional(Type.Array(item, { description, maxItems: MOST_TYPES }));
}

/** Which types a client supports. */
export const supportedActionTypes = typeList(
  'Types of actions that the client supports: versions (`v1` to `v5`, `latest`), groups (such as `jettons`, `nft`, `staking`) or ' +
    'types; several may be given by repeating the parameter. Default: `latest`. `v1` is always supported. An action that is a part ' +
    'of a supported one is not shown; a client that does not support the larger one is shown its parts instead.',
);

/** The types that are shown to a client. @param given the parameter `supported_action_types`; the header takes precedence */
export function shownActionTypes(
  given: readonly string[] | undefined,
  { switches }: { readonly switches: Pick<V3Context['switches'], 'actionsVersion'> },
): ActionTypeFilter {
  const words = switches.actionsVersion === null ? (given ?? [LATEST]) : [switches.actionsVersion];
  const supported = [...expandActionTypes(words)].sort();
  return { types: supported, supported };
}

const params = Type.Object(
  {
    account: Type.Optional(v3AccountParameter('Only actions in which this account takes part')),
    tx_hash: Type.Optional(v3HashListParameter('Only actions with one of these transactions')),
    msg_hash: Type.Optional(
      v3HashListParameter(
        'Only actions whose transactions sent or received one of these messages, by the hash as it is or normalised (TEP-467)',
      ),
    ),
    action_id: Type.Optional(v3HashListParameter('Only the actions with these ids')),
    trace_id: Type.Optional(
      v3HashListParameter('Only actions of traces whose first transaction has one of these hashes'),
    ),
    mc_seqno: Type.Optional(
      seqnoParameter('Only of traces that ended in this masterchain block; one that is not indexed is an error (404).'),
    ),
    ...timeParameters('`trace_end_utime`', '`trace_end_lt`'),
    action_type: typeList('Only actions of these types, also of types that the client does not support.'),
    exclude_action_type: typeList('No actions of these types.'),
    exclude_system: excludeSystemParameter(
      'actions of traces that begin with a tick-tock transaction or a special message of the masterchain',
    ),
    supported_action_types: supportedActionTypes,
    include_accounts: Type.Optional(Type.Boolean({ description: 'Include `accounts`.', default: false })),
    include_transactions: Type.Optional(Type.Boolean({ description: 'Include `transactions_full`.', default: false })),
    ...pageFields,
    sort: sortParameter('By the end of the trace, then by the end of the action.'),
  },
  { additionalProperties: false },
);
type ActionParameters = StaticDecode<typeof params>;

/** Transactions of all actions of an answer. */
const MAX_TRANSACTIONS = 10_000;

const Actions = listAnswer('ActionsResponse', 'actions', actionValue, { metadata: true });

async function listActions(given: ActionParameters, context: V3Context): Promise<JsonText> {
  const { index } = context.network;
  const { action_type, exclude_action_type = [], supported_action_types } = given;
  const { include_accounts: withAccounts = false, include_transactions = false } = given;
  const { account, tx_hash, msg_hash, action_id, trace_id, mc_seqno, exclude_system } = given;
  const { start_utime, end_utime, start_lt, end_lt } = given;
  const { supported } = shownActionTypes(supported_action_types, context);
  const types = [...new Set(action_type ?? supported)].filter((type) => !exclude_action_type.includes(type)).sort();
  const filter = {
    ...{ account, tx_hash, msg_hash, action_id, trace_id, mc_seqno, exclude_system },
    ...{ start_utime, end_utime, start_lt, end_lt },
    ...{ types, supported },
    isSelection: action_type !== undefined || exclude_action_type.length > 0,
  };
  const listed = await index.actions(filter, pageOf(given, context), context.query);
  if (listed.rows.length === 0 && mc_seqno !== undefined) await requireIndexedMcBlock(mc_seqno, context);
  const transactions = include_transactions ? await transactionsOf(listed.rows, context) : null;
  const rows = listed.rows.map((action) => ({
    action,
    withAccounts,
    transactions:
      transactions === null ? null : action.transactions.flatMap((each) => transactions.get(toHex(each)) ?? []),
  }));
  return Actions.write({ rows, next: listed.next }, context);
}

/** The transactions of actions by their hash in hexadecimal. @throws v3/answer-too-large */
async function transactionsOf(
  actions: readonly IndexedAction[],
  context: V3Context,
): Promise<ReadonlyMap<string, IndexedTransaction>> {
  const wanted = new Map<string, Uint8Array>();
  let written = 0;
  for (const { transactions } of actions) {
    written += transactions.length;
    for (const each of transactions) wanted.set(toHex(each), each);
  }
  if (written > MAX_TRANSACTIONS) throw v3Errors['answer-too-large']({ limit: `${MAX_TRANSACTIONS} transactions` });
  context.foresee(written * ROW_PRICE.transaction);
  if (wanted.size === 0) return new Map();
  const { index } = context.network;
  const page = { limit: wanted.size, offset: 0, sort: 'asc', cursor: null } as const;
  const { rows } = await index.transactions({ hash: [...wanted.values()] }, page, context.query);
  return new Map(rows.map((row) => [toHex(row.cell.hash()), row]));
}

const actions = v3Endpoint({
  name: 'actions',
  verbs: ['GET'],
  tag: 'Actions and traces',
  summary: 'Actions',
  description:
    'What happened, in the words that wallets show: actions that match all given conditions, ordered by the logical time of the end ' +
    'of their traces. A trace is classified into actions when it is complete; `classification_state` of the trace says whether ' +
    'that has happened.',
  params,
  check: checkPage,
  // Traces are classified after they were committed, so nothing else says when there will be more actions.
  depends: ({ account }) => (account === undefined ? null : [tracesOfAccountDependency(account)]),
  result: Actions.schema,
  statuses: [404, 422, 504],
  price: pagePrice(ROW_PRICE.action),
  // Contracts are detected in their newest states.
  coverage: { needs: ['history', 'state'], mcBlock: ({ mc_seqno }) => mc_seqno },
  freshness: 'head',
  handle: listActions,
});

/** Methods about actions. */
export const actionEndpoints: readonly AnyEndpoint<V3Context>[] = [actions];
