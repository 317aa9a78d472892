import { addressOf, hashOf, hexOf, shardHex } from '../format/chain-text.js';
import { pathOf } from '../routing/location.js';
import { isTestnetAddress, type KnownNetwork, NETWORK_QUERY, networkOfLink } from '../routing/other-network.js';

/** What a search leads to. */
export type SearchTarget =
  | { readonly kind: 'page'; readonly path: string }
  /** A hash: of a transaction, a message or a block; an API has to be asked. */
  | { readonly kind: 'hash'; readonly hash: string; readonly network?: KnownNetwork }
  /** A word: perhaps the symbol or the name of a jetton. */
  | { readonly kind: 'word'; readonly word: string }
  | { readonly kind: 'problem'; readonly problem: string };

const SEQNO = /^[#]?(\d{1,10})$/;
const BLOCK_ID = /^\(?\s*(-?\d{1,10})\s*[,:]\s*([0-9a-fA-F]{16}|-?\d{5,20})\s*[,:]\s*(\d{1,10})\s*\)?$/;
const DOMAIN = /^(?=.{4,126}$)[^\s/?#@:]+(?:\.[^\s/?#@:.]+)*\.(?:ton|t\.me|gram)$/iu;
/** Characters of a BoC in the address of a page. */
const MOST_BOC = 4_000;

/**
 * Understands what somebody typed or pasted: an address in any form, a hash in hex or base64, a seqno, a block id, a domain, a BoC,
 * or a link to a page of this or another explorer that has one of these in it.
 */
export function searchTarget(typed: string): SearchTarget {
  const text = typed.trim();
  if (text === '') return { kind: 'problem', problem: 'Type an address, a hash, a block or a domain.' };
  if (/^(te6cc|b5ee9c72)/i.test(text)) return bocTarget(text);
  const seqno = SEQNO.exec(text)?.[1];
  if (seqno !== undefined) return blockTarget(-1, '8000000000000000', seqno);
  const block = BLOCK_ID.exec(text);
  if (block !== null) return blockTarget(Number(block[1]), shardHex(block[2]!), block[3]!);
  const address = addressOf(text);
  if (address !== null) {
    const shown = address.toFriendly({ testnet: isTestnetAddress(text) });
    return { kind: 'page', path: pathOf(['account', shown]) };
  }
  const hash = hashOf(text);
  if (hash !== null) return { kind: 'hash', hash };
  if (DOMAIN.test(text)) return { kind: 'page', path: pathOf(['dns', text.toLowerCase()]) };
  if (/^(?:https?:)?\/\//.test(text)) return linkTarget(text);
  return { kind: 'problem', problem: problemOf(text) } satisfies SearchTarget as SearchTarget;
}

function bocTarget(boc: string): SearchTarget {
  return boc.length <= MOST_BOC
    ? { kind: 'page', path: pathOf(['message'], { boc }) }
    : { kind: 'problem', problem: 'This BoC is too long for the address of a page: paste it into the page Message.' };
}

function blockTarget(workchain: number, shard: string, seqno: string): SearchTarget {
  return Number(seqno) <= 0xffff_ffff
    ? { kind: 'page', path: pathOf(['block', workchain, shard, Number(seqno)]) }
    : { kind: 'problem', problem: 'A seqno has 32 bits: it is at most 4,294,967,295.' };
}

/** The last part of a link that means something. */
function linkTarget(link: string): SearchTarget {
  const parts = link.split(/[/?#&=]/).filter((part) => part !== '' && !/^https?:$/.test(part));
  for (const part of parts.reverse()) {
    const target = part.includes('.') ? null : searchTarget(decodedPart(part));
    if (target?.kind === 'page' || target?.kind === 'hash') return ofNetwork(target, networkOfLink(link));
  }
  return { kind: 'problem', problem: 'There is no address, hash or block in this link.' };
}

function ofNetwork(
  target: SearchTarget & { readonly kind: 'page' | 'hash' },
  network: KnownNetwork | null,
): SearchTarget {
  if (network === null) return target;
  return target.kind === 'hash' ? { ...target, network } : { ...target, path: withNetwork(target.path, network) };
}

/** The address of a page with the network that it is meant for. */
export function withNetwork(path: string, network: KnownNetwork): string {
  return `${path}${path.includes('?') ? '&' : '?'}${NETWORK_QUERY}=${network}`;
}

function decodedPart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** What is wrong with a text that is nearly something. */
function problemOf(text: string): string {
  if (/^-?\d+:[0-9a-fA-F]*$/.test(text)) {
    return `A raw address has 64 hex digits after the colon; this one has ${text.split(':')[1]!.length}.`;
  }
  if (/^[EUk0][Qqfg][A-Za-z0-9_+/-]+$/.test(text) && text.length > 30) {
    return text.length === 48
      ? 'The checksum of this address is wrong: a character was changed or left out.'
      : `An address has 48 characters; this one has ${text.length}.`;
  }
  if (/^(0x)?[0-9a-fA-F]{20,}$/.test(text)) {
    return `A hash has 64 hex digits; this one has ${text.replace(/^0x/, '').length}.`;
  }
  return '';
}

/** The same, with words that may be names of jettons. */
export function searchTargetOrWord(typed: string): SearchTarget {
  const target = searchTarget(typed);
  const word = typed.trim();
  if (target.kind !== 'problem' || target.problem !== '') return target;
  if (word.length <= 64) return { kind: 'word', word };
  return { kind: 'problem', problem: 'This is no address, hash, block or domain.' };
}

/** The address of the results of a search. */
export function searchPath(target: SearchTarget): string {
  if (target.kind === 'page') return target.path;
  if (target.kind === 'hash') {
    return pathOf(['search'], { q: hexOf(target.hash), [NETWORK_QUERY]: target.network });
  }
  return pathOf(['search'], { q: target.kind === 'word' ? target.word : '' });
}
