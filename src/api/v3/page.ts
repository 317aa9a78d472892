import { type TObject, type TSchema, Type } from '@sinclair/typebox';
import { type JsonText, jsonText, type SerializedJson } from '#api/http/endpoint.js';
import { httpErrors } from '#api/http/errors.js';
import {
  AddressBookJson,
  type AddressesByRaw,
  addressRowsText,
  MetadataJson,
  readAddressRows,
} from '#api/v3/address-book.js';
import { AddressCollector, type AnswerPage, type AnswerValue } from '#api/v3/answer-type.js';
import type { V3Context } from '#api/v3/context.js';
import { tellCoverage } from '#api/v3/coverage.js';
import { v3Errors } from '#api/v3/errors.js';
import { type JsonPieces, jsonPieces } from '#api/v3/json-pieces.js';
import type { AddressRow } from '#api/v3/kept-texts.js';
import { DEFAULT_PAGE_ROWS } from '#api/v3/parameters.js';
import type { Listed, Page, WantedFacts } from '#drivers/store/read/index-types.js';
import { parseAddress } from '#formats/address/address.js';

/** The header with the cursor of the next page. */
const NEXT_HEADER = 'X-Tern-Next';

interface PageParameters {
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
  readonly cursor?: string | undefined;
  readonly sort?: 'asc' | 'desc' | undefined;
}

/** The page that a list request asks for. */
export function pageOf(params: PageParameters, { profile }: Pick<V3Context, 'profile'>): Page {
  const { limit = DEFAULT_PAGE_ROWS[profile], offset = 0, sort = 'desc', cursor = null } = params;
  return { limit, offset, sort, cursor };
}

/** The parameters of a list request without those of its page. */
export function filterOf<Params extends PageParameters>(params: Params): Omit<Params, keyof PageParameters> {
  const { limit: _, offset: __, cursor: ___, sort: ____, ...filter } = params;
  return filter;
}

/** A cursor already says where the page starts. @throws http/bad-parameter */
export function checkPage({ cursor, offset }: PageParameters): void {
  if (cursor === undefined || offset === undefined || offset === 0) return;
  throw httpErrors['bad-parameter']({ parameter: 'offset', problem: 'it cannot be given together with cursor' });
}

/** The rows of a page; the cursor of the next one goes to a header. */
export function rowsOf<Row>({ rows, next }: Listed<Row>, { header }: Pick<V3Context, 'header'>): readonly Row[] {
  if (next !== null) header(NEXT_HEADER, next);
  return rows;
}

/** The answer of a list method: `{"<member>":[…],"address_book":{…},"metadata":{…}}`. */
export interface ListAnswer<Row> {
  readonly schema: TObject;
  /** Writes a page of rows, then reads and writes what the index knows of the addresses in them. */
  write(listed: Listed<Row>, context: V3Context): Promise<JsonText>;
}

/** A row of a list of which parts are kept in UTF-8, or which is long: between its pieces others get their turn. */
export interface PiecedRow<Row> {
  readonly schema: TSchema;
  pieces(row: Row, page: AnswerPage): Iterable<SerializedJson>;
}

/**
 * Declares the answer of a list method.
 *
 * @param $id its name in the published document
 * @param member name of the array of rows
 * @param metadata whether the answer has `metadata`
 */
export function listAnswer<Row>(
  $id: string,
  member: string,
  row: AnswerValue<Row> | PiecedRow<Row>,
  { metadata }: { readonly metadata: boolean },
): ListAnswer<Row> {
  const tail = metadata ? { address_book: AddressBookJson, metadata: MetadataJson } : { address_book: AddressBookJson };
  return {
    schema: Type.Object({ [member]: Type.Array(row.schema), ...tail }, { $id }),
    write: async (listed, context) => {
      const { profile } = context;
      const page = {
        profile,
        addresses: new AddressCollector(),
        texts: context.network.texts?.of(profile),
        messages: new Map(),
      };
      const write =
        'pieces' in row
          ? (each: Row) => row.pieces(each, page)
          : (each: Row): Iterable<SerializedJson> => [row.write[profile](each, page)];
      const head = jsonPieces(`{"${member}":[`);
      await addRows(head, rowsOf(listed, context), write, context);
      head.add('],');
      return withAddresses(head, page.addresses, context, metadata);
    },
  };
}

/** Longest list in an answer, in characters of JSON, or bytes where parts of it are kept. */
const MAX_LIST_CHARACTERS = 32 * 2 ** 20;

/** Adds the rows of an answer, with commas between them; written in slices. @throws v3/answer-too-large */
export async function addRows<Row>(
  head: JsonPieces,
  rows: readonly Row[],
  write: (row: Row) => Iterable<SerializedJson>,
  { slices }: Pick<V3Context, 'slices'>,
): Promise<void> {
  const before = head.length;
  slices.begin();
  for (const [i, row] of rows.entries()) {
    if (i > 0) head.add(',');
    for (const piece of write(row)) {
      head.add(piece);
      if (head.length - before > MAX_LIST_CHARACTERS)
        throw v3Errors['answer-too-large']({ limit: `${MAX_LIST_CHARACTERS} characters` });
      if (slices.isOver) await slices.next();
    }
  }
}

/** What {@link writeAddressTail} writes: the addresses of an answer in raw form, and whether the answer has `metadata`. */
interface AddressTailSource {
  readonly raws: readonly string[];
  readonly metadata: boolean;
}

/** What an answer tells of its addresses. @param metadata whether it has `metadata` */
export function wantedFacts({ switches }: V3Context, metadata: boolean): WantedFacts {
  return { domains: !switches.noAddressBook, tokens: metadata && !switches.noMetadata };
}

/** An answer with its last members: `"address_book":{…}` and, where it has that, `"metadata":{…}`. */
export async function withAddresses(
  head: JsonPieces,
  { byRaw }: AddressCollector,
  context: V3Context,
  metadata: boolean,
  given?: ReadonlyMap<string, AddressRow>,
): Promise<JsonText> {
  const { text, keys } = await addressTail(byRaw, context, metadata, given);
  const source: AddressTailSource = { raws: [...byRaw.keys()], metadata };
  const { json, from } = head.joinWith(text);
  return jsonText(json, { from, keys, source });
}

/** Writes the last members of an answer anew, with the header that tells what they may lack. */
export async function writeAddressTail({ raws, metadata }: AddressTailSource, context: V3Context) {
  // Most of their rows are kept: then nothing else of an address is needed.
  const addresses: AddressesByRaw = {
    size: raws.length,
    keys: () => raws.values(),
    get: (raw) => parseAddress(raw).address,
  };
  const tail = await addressTail(addresses, context, metadata);
  tellCoverage(context);
  return tail;
}

/** What the index knows of the addresses of an answer; not read at all when the request excludes both parts. */
async function addressTail(
  addresses: AddressesByRaw,
  context: V3Context,
  metadata: boolean,
  given?: ReadonlyMap<string, AddressRow>,
) {
  const wanted = wantedFacts(context, metadata);
  const isRead = addresses.size > 0 && (wanted.domains || wanted.tokens);
  // Which domains an account owns is known of all accounts or of none.
  if (isRead && wanted.domains) context.coverage.dependOn('state');
  const rows = given ?? (isRead ? await readAddressRows(addresses, wanted, context) : new Map<string, AddressRow>());
  const keys: string[] = [];
  for (const row of rows.values()) for (const key of row.keys) keys.push(key);
  return { text: `${addressRowsText(addresses.keys(), rows, { book: wanted.domains, metadata })}}`, keys };
}

/** For an empty list: the masterchain block may commit nothing, or not be indexed. @throws v3/masterchain-block-not-found */
export async function requireIndexedMcBlock(mc_seqno: number, { network, query }: V3Context): Promise<void> {
  if (await network.index.hasMcBlock(mc_seqno, query)) return;
  throw v3Errors['masterchain-block-not-found']({ mc_seqno });
}
