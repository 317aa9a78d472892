import { useEffect } from 'preact/hooks';
import type { AddressFacts, Block, BlocksAnswer, TracesAnswer } from '../api/answers.js';
import { ApiProblem, askV3, type Query } from '../api/ask.js';
import { countText } from '../format/amount.js';
import { hexOf } from '../format/chain-text.js';
import { useLoad } from '../live/use-load.js';
import { AccountLink } from '../parts/address.js';
import { KnownAddresses } from '../parts/address-facts.js';
import { Section } from '../parts/facts.js';
import { Loading, NotFound, Notice, ProblemNotice } from '../parts/notice.js';
import { blockPath } from '../parts/reference.js';
import { Untrusted } from '../parts/untrusted.js';
import { pathOf } from '../routing/location.js';
import { namedNetwork } from '../routing/other-network.js';
import { useNavigation } from '../routing/router.js';
import { searchTargetOrWord, withNetwork } from '../routing/search-target.js';

/** What was found: a page to go to, or jettons of a name. */
type Found =
  | { readonly kind: 'path'; readonly path: string }
  | { readonly kind: 'jettons'; readonly answer: MastersAnswer; readonly matches: readonly string[] }
  | {
      readonly kind: 'nothing';
      readonly coverage: string | null;
      /** There are more jettons than were looked through. */
      readonly hasMore: boolean;
    };

interface MastersAnswer extends AddressFacts {
  readonly jetton_masters: readonly { readonly address: string }[];
}

/** Asks what has a hash: a transaction, a message, or a block. */
async function findHash(hash: string, signal: AbortSignal): Promise<Found> {
  const lookups = [
    askV3<TracesAnswer>('traces', { tx_hash: hash, limit: 1 }, signal),
    askV3<TracesAnswer>('traces', { msg_hash: hash, limit: 1 }, signal),
  ] as const;
  const [byTransaction, byMessage] = await Promise.all(lookups);
  if (byTransaction.value.traces.length > 0) return { kind: 'path', path: pathOf(['tx', hexOf(hash)]) };
  if (byMessage.value.traces.length > 0) return { kind: 'path', path: pathOf(['trace', hexOf(hash)]) };
  for (const name of ['root_hash', 'file_hash']) {
    const block = await blockOf({ [name]: hash }, signal);
    if (block !== undefined) return { kind: 'path', path: blockPath(block) };
  }
  return { kind: 'nothing', coverage: byTransaction.coverage, hasMore: false };
}

async function blockOf(query: Query, signal: AbortSignal): Promise<Block | undefined> {
  try {
    return (await askV3<BlocksAnswer>('blocks', { ...query, limit: 1 }, signal)).value.blocks[0];
  } catch (error) {
    if (error instanceof ApiProblem && error.kind === 'not-found') return;
    throw error;
  }
}

/** Jettons that are looked through for a name. */
const MOST_MASTERS = 500;

async function findWord(word: string, signal: AbortSignal): Promise<Found> {
  const { value, coverage } = await askV3<MastersAnswer>('jetton/masters', { limit: MOST_MASTERS }, signal);
  const wanted = word.toLowerCase();
  const rank = (address: string): number => {
    const token = value.metadata?.[address]?.token_info?.[0];
    const texts = [token?.symbol, token?.name].flatMap((text) => (text == null ? [] : [text.toLowerCase()]));
    if (texts.includes(wanted)) return 2;
    return texts.some((text) => text.includes(wanted)) ? 1 : 0;
  };
  const matches = value.jetton_masters
    .map(({ address }) => ({ address, rank: rank(address) }))
    .filter((each) => each.rank > 0)
    .sort((a, b) => b.rank - a.rank)
    .map(({ address }) => address);
  if (matches.length > 0) return { kind: 'jettons', answer: value, matches };
  return { kind: 'nothing', coverage, hasMore: value.jetton_masters.length === MOST_MASTERS };
}

export function SearchPage({ query }: { readonly query: string }) {
  const { go, place } = useNavigation();
  const named = namedNetwork(place);
  const target = searchTargetOrWord(query);
  const key = target.kind === 'hash' ? target.hash : target.kind === 'word' ? target.word : null;
  const { value, problem } = useLoad<Found>(
    key === null ? null : `search:${key}`,
    (signal) => (target.kind === 'hash' ? findHash(target.hash, signal) : findWord(query.trim(), signal)),
    { live: (found) => found === null || found.kind === 'nothing' },
  );
  const path = target.kind === 'page' ? target.path : value?.kind === 'path' ? value.path : null;
  useEffect(() => {
    if (path !== null) go(named === null ? path : withNetwork(path, named.network), { replace: true });
  }, [path]);
  if (target.kind === 'problem') return <Notice kind="error" title={target.problem} />;
  if (path !== null) return <Loading what="the page" />;
  if (problem !== null) return <ProblemNotice problem={problem} what="search result" />;
  if (value === null) return <Loading what="results" />;
  if (value.kind !== 'jettons') {
    const nothing = value.kind === 'nothing' ? value : null;
    return target.kind === 'hash' ? (
      <>
        <NotFound what="transaction, message or block" coverage={nothing?.coverage} />
        <p>
          Accounts have such an id as well: <AccountLink address={`0:${hexOf(target.hash)}`} whole /> in the basechain.
        </p>
      </>
    ) : nothing?.hasMore === true ? (
      <Notice title={`None of ${countText(MOST_MASTERS)} jettons has this name.`}>
        There are more than are looked through here. Search for the address of the jetton.
      </Notice>
    ) : (
      <NotFound what="jetton" coverage={nothing?.coverage} />
    );
  }
  return (
    <KnownAddresses of={value.answer}>
      <h1>
        Jettons called “<Untrusted text={query} />”
      </h1>
      <Notice kind="warning" title="Names are not unique: anybody can choose any name. Compare addresses." />
      <Section title="Jettons">
        <ul class="plain-list">
          {value.matches.map((address) => (
            <li key={address}>
              <AccountLink address={address} /> <AccountLink address={address} whole bare />
            </li>
          ))}
        </ul>
      </Section>
    </KnownAddresses>
  );
}
