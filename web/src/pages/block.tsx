import type { Block, BlocksAnswer, Transaction, TransactionsAnswer } from '../api/answers.js';
import { type Answer, askV3 } from '../api/ask.js';
import { countText } from '../format/amount.js';
import { opcodeHex, shardDecimal, shardHex, workchainName } from '../format/chain-text.js';
import { useLoad } from '../live/use-load.js';
import { useNetwork } from '../live/use-network.js';
import { usePages } from '../live/use-pages.js';
import { AccountLink } from '../parts/address.js';
import { KnownAddresses } from '../parts/address-facts.js';
import { Ton } from '../parts/amount.js';
import { Fact, Facts, JsonText, Section } from '../parts/facts.js';
import { Moment } from '../parts/moment.js';
import { MorePages } from '../parts/more-pages.js';
import { Loading, NotFound, Notice, ProblemNotice } from '../parts/notice.js';
import { BlockLink, blockPath, HashText, MASTERCHAIN_SHARD, McBlockLink, TransactionLink } from '../parts/reference.js';
import { TableFrame } from '../parts/table-frame.js';
import { Link } from '../routing/router.js';
import { outcomeOf } from '../trace/trace-rows.js';

interface BlockPageProps {
  readonly workchain: string;
  /** 16 hex digits. */
  readonly shard: string;
  readonly seqno: string;
}

/** A block: the masterchain's with its shard blocks, or one of a shard. */
export function BlockPage({ workchain, shard, seqno }: BlockPageProps) {
  const decimal = shardDecimal(shard);
  const isValid = /^-?\d{1,10}$/.test(workchain) && decimal !== null && /^\d{1,10}$/.test(seqno);
  const isMasterchain = workchain === '-1';
  const { head } = useNetwork();
  const { value, problem } = useLoad(
    isValid ? `block:${workchain}:${shard}:${seqno}` : null,
    async (signal) => {
      const found = await askV3<BlocksAnswer>('blocks', { workchain, shard: decimal, seqno, limit: 1 }, signal);
      const committed =
        isMasterchain && found.value.blocks.length > 0
          ? (await askV3<BlocksAnswer>('masterchainBlockShards', { seqno, limit: 256 }, signal)).value.blocks
          : [];
      return { block: found.value.blocks[0] ?? null, coverage: found.coverage, committed };
    },
    { live: (value) => value?.block == null },
  );
  if (!isValid) {
    return (
      <Notice kind="error" title="This is no block.">
        A block is named by workchain, shard (16 hex digits) and seqno: (-1,8000000000000000,1).
      </Notice>
    );
  }
  if (problem !== null && isMasterchain && head > 0 && Number(seqno) > head) {
    return <MissingBlock seqno={Number(seqno)} isMasterchain coverage={null} />;
  }
  if (value === null)
    return problem === null ? <Loading what="the block" /> : <ProblemNotice problem={problem} what="block" />;
  if (value.block === null)
    return <MissingBlock seqno={Number(seqno)} isMasterchain={isMasterchain} coverage={value.coverage} />;
  return <BlockView block={value.block} committed={value.committed} />;
}

function MissingBlock({
  seqno,
  isMasterchain,
  coverage,
}: {
  readonly seqno: number;
  readonly isMasterchain: boolean;
  readonly coverage: string | null;
}) {
  const { head } = useNetwork();
  if (isMasterchain && head > 0 && seqno > head) {
    return (
      <Notice title={`Masterchain block ${countText(seqno)} does not exist yet.`}>
        The newest one is <McBlockLink seqno={head} />.
      </Notice>
    );
  }
  if (seqno === 0) {
    return (
      <Notice title="The chain begins with the zerostate, which is a state and no block.">
        The first block of a chain has the seqno 1.
      </Notice>
    );
  }
  return <NotFound what="block" coverage={coverage} />;
}

function BlockView({ block, committed }: { readonly block: Block; readonly committed: readonly Block[] }) {
  const isMasterchain = block.workchain === -1;
  const neighbour = (seqno: number) => blockPath({ ...block, seqno });
  const marks = [
    ...(block.key_block ? ['key block'] : []),
    ...(block.after_split ? ['after a split'] : []),
    ...(block.after_merge ? ['after a merge'] : []),
    ...(block.before_split ? ['before a split'] : []),
  ];
  return (
    <>
      <header class="page-head">
        <h1>
          {isMasterchain ? 'Masterchain block' : 'Shard block'} {countText(block.seqno)}{' '}
          {marks.map((mark) => (
            <span key={mark} class="badge">
              {mark}
            </span>
          ))}
        </h1>
        <nav class="pager" aria-label="Neighbours">
          {block.seqno > 0 && <Link to={neighbour(block.seqno - 1)}>← previous</Link>}
          <Link to={neighbour(block.seqno + 1)}>next →</Link>
        </nav>
      </header>
      <section class="card">
        <Facts>
          <Fact name="Block id">
            <span class="mono">
              ({block.workchain},{shardHex(block.shard)},{block.seqno})
            </span>
          </Fact>
          <Fact name="Chain">{workchainName(block.workchain)}</Fact>
          <Fact name="Time">
            <Moment at={block.gen_utime} full />
          </Fact>
          <Fact name="Transactions">{countText(block.tx_count)}</Fact>
          {!isMasterchain && (
            <Fact name="Committed by">
              <BlockLink block={block.masterchain_block_ref} />
            </Fact>
          )}
          <Fact name="Logical time">
            <span class="mono">
              {block.start_lt} … {block.end_lt}
            </span>
          </Fact>
          <Fact name="Previous">
            {block.prev_blocks.map((previous) => (
              <div key={`${previous.shard}:${previous.seqno}`}>
                <BlockLink block={previous} />
              </div>
            ))}
          </Fact>
          <Fact name="Root hash">
            <HashText hash={block.root_hash} what="root hash" />
          </Fact>
          <Fact name="File hash">
            <HashText hash={block.file_hash} what="file hash" />
          </Fact>
        </Facts>
        <details class="raw">
          <summary>All of the header as JSON</summary>
          <JsonText value={block} />
        </details>
      </section>
      {isMasterchain && (
        <Section title={`Shard blocks: ${countText(committed.filter(({ workchain }) => workchain !== -1).length)}`}>
          <BlockTable blocks={committed.filter(({ workchain }) => workchain !== -1)} />
        </Section>
      )}
      <BlockTransactions block={block} />
    </>
  );
}

/** Blocks as a table; with `short`, by their seqnos alone. */
function BlockTable({ blocks, short = false }: { readonly blocks: readonly Block[]; readonly short?: boolean }) {
  if (blocks.length === 0) return <p class="muted">None.</p>;
  return (
    <TableFrame>
      <table class="table">
        <thead>
          <tr>
            <th scope="col">Block</th>
            <th scope="col" class="number">
              Transactions
            </th>
            <th scope="col">Time</th>
          </tr>
        </thead>
        <tbody>
          {blocks.map((block) => (
            <tr key={`${block.workchain}:${block.shard}:${block.seqno}`}>
              <td>
                <BlockLink block={block} short={short} />
              </td>
              <td class="number">{countText(block.tx_count)}</td>
              <td>
                <Moment at={block.gen_utime} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableFrame>
  );
}

const PAGE = 50;

function BlockTransactions({ block }: { readonly block: Block }) {
  const { workchain, shard, seqno } = block;
  const pages = usePages<Transaction>(
    `block-tx:${workchain}:${shard}:${seqno}`,
    async (cursor, signal) => {
      const answer: Answer<TransactionsAnswer> = await askV3(
        'transactions',
        { workchain, shard, seqno, cursor, limit: PAGE, sort: 'asc' },
        signal,
      );
      return { ...answer, value: answer.value.transactions };
    },
    ({ hash }) => hash,
  );
  return (
    <Section title="Transactions">
      {pages.problem !== null && <ProblemNotice problem={pages.problem} what="transaction" />}
      <TransactionTable transactions={pages.rows} />
      {pages.rows.length === 0 && !pages.isLoading && <p class="muted">None.</p>}
      <MorePages pages={pages} />
    </Section>
  );
}

/** Transactions as a table. */
export function TransactionTable({ transactions }: { readonly transactions: readonly Transaction[] }) {
  if (transactions.length === 0) return null;
  return (
    <TableFrame>
      <table class="table">
        <thead>
          <tr>
            <th scope="col">Transaction</th>
            <th scope="col">Account</th>
            <th scope="col">Message</th>
            <th scope="col" class="number">
              Value
            </th>
            <th scope="col">Outcome</th>
            <th scope="col">Time</th>
          </tr>
        </thead>
        <tbody>
          {transactions.map((transaction) => {
            const { in_msg } = transaction;
            const outcome = outcomeOf(transaction);
            return (
              <tr key={transaction.hash}>
                <td>
                  <TransactionLink hash={transaction.hash} bare />
                </td>
                <td>
                  <AccountLink address={transaction.account} bare />
                </td>
                <td>
                  {in_msg == null
                    ? transaction.description.type.replaceAll('_', '-')
                    : (in_msg.decoded_opcode ??
                      opcodeHex(in_msg.opcode) ??
                      (in_msg.source == null ? 'external' : 'transfer'))}
                </td>
                <td class="number">{in_msg?.value == null ? '' : <Ton nano={in_msg.value} />}</td>
                <td class={outcome.kind === 'failure' ? 'bad' : 'muted'}>{outcome.text}</td>
                <td>
                  <Moment at={transaction.now} />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </TableFrame>
  );
}

/** The newest masterchain blocks, page by page. */
export function BlocksPage() {
  const pages = usePages<Block>(
    'blocks',
    async (cursor, signal) => {
      const answer: Answer<BlocksAnswer> = await askV3(
        'blocks',
        { workchain: -1, shard: shardDecimal(MASTERCHAIN_SHARD), cursor, limit: PAGE, sort: 'desc' },
        signal,
      );
      return { ...answer, value: answer.value.blocks };
    },
    ({ seqno }) => `${seqno}`,
    { live: true },
  );
  return (
    <KnownAddresses of={null}>
      <h1>Masterchain blocks</h1>
      <section class="card">
        {pages.problem !== null && <ProblemNotice problem={pages.problem} what="block" />}
        <BlockTable blocks={pages.rows} short />
        <MorePages pages={pages} />
      </section>
    </KnownAddresses>
  );
}
