import type { BlockRef } from '../api/answers.js';
import { countText } from '../format/amount.js';
import { hexOf, shardHex, shortened } from '../format/chain-text.js';
import { Copy } from '../parts/copy.js';
import { pathOf } from '../routing/location.js';
import { Link } from '../routing/router.js';

/** A hash, shortened, to be copied. @param hash base64 */
export function HashText({
  hash,
  what = 'hash',
  whole = false,
}: {
  readonly hash: string;
  readonly what?: string;
  readonly whole?: boolean;
}) {
  const hex = hexOf(hash);
  return (
    <span class="hash">
      <span class={whole ? 'mono wrap' : 'mono'} title={hex}>
        {whole ? hex : shortened(hex, 8, 6)}
      </span>
      <Copy text={hex} what={what} />
    </span>
  );
}

/** A transaction by its hash. */
export function TransactionLink({ hash, bare = false }: { readonly hash: string; readonly bare?: boolean }) {
  const hex = hexOf(hash);
  return (
    <span class="hash">
      <Link to={pathOf(['tx', hex])} class="mono" title={hex}>
        {shortened(hex, 8, 6)}
      </Link>
      {!bare && <Copy text={hex} what="transaction hash" />}
    </span>
  );
}

/** A trace by the hash of its first transaction. */
export function TraceLink({ id, text }: { readonly id: string; readonly text?: string }) {
  const hex = hexOf(id);
  return (
    <Link to={pathOf(['trace', hex])} class={text === undefined ? 'mono' : ''} title={`Trace ${hex}`}>
      {text ?? shortened(hex, 8, 6)}
    </Link>
  );
}

/** The path of the page of a block. */
export function blockPath({ workchain, shard, seqno }: BlockRef): string {
  return pathOf(['block', workchain, shardHex(shard), seqno]);
}

/** A block by its id. */
export function BlockLink({ block, short = false }: { readonly block: BlockRef; readonly short?: boolean }) {
  const shard = shardHex(block.shard);
  const text = short ? countText(block.seqno) : `(${block.workchain},${shard},${block.seqno})`;
  return (
    <Link to={blockPath(block)} class="mono" title={`(${block.workchain},${shard},${block.seqno})`}>
      {text}
    </Link>
  );
}

export const MASTERCHAIN_SHARD = '8000000000000000';

/** A masterchain block by its seqno. */
export function McBlockLink({ seqno }: { readonly seqno: number | string }) {
  return <BlockLink block={{ workchain: -1, shard: MASTERCHAIN_SHARD, seqno: Number(seqno) }} short />;
}
