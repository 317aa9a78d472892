import type { ComponentChildren } from 'preact';
import type { ApiProblem } from '../api/ask.js';
import { countText } from '../format/amount.js';
import { firstIndexed } from '../format/coverage.js';
import { useNetwork } from '../live/use-network.js';
import { McBlockLink } from '../parts/reference.js';

interface NoticeProps {
  readonly kind?: 'info' | 'warning' | 'error';
  readonly title: string;
  readonly children?: ComponentChildren;
}

/** A sentence that stands out, with what can be done. */
export function Notice({ kind = 'info', title, children }: NoticeProps) {
  return (
    <div class={`notice notice-${kind}`} role={kind === 'error' ? 'alert' : undefined}>
      <p class="notice-title">{title}</p>
      {children !== undefined && <div class="notice-text">{children}</div>}
    </div>
  );
}

/** What an answer may lack because the index begins late; nothing where it lacks nothing. */
export function CoverageNotice({ coverage }: { readonly coverage: string | null | undefined }) {
  if (coverage == null) return null;
  const first = firstIndexed(coverage);
  return (
    <Notice kind="warning" title="The index of this server does not have the whole chain.">
      {first === null ? (
        'It has no history yet: what is older than the next blocks is not shown.'
      ) : (
        <>
          Its history begins with masterchain block <McBlockLink seqno={first} />; what is older is not shown here.
        </>
      )}
      <span class="muted"> ({coverage})</span>
    </Notice>
  );
}

/** Why something could not be shown. @param what `block`, `account` */
export function ProblemNotice({ problem, what }: { readonly problem: ApiProblem; readonly what: string }) {
  const { hasIndex } = useNetwork();
  const { kind, message, coverage } = problem;
  switch (kind) {
    case 'unreachable':
      return <Notice kind="warning" title="The server does not answer. This page goes on as soon as it does." />;
    case 'busy':
      return (
        <Notice kind="warning" title="The server is busy. This page asks again by itself.">
          {message}
        </Notice>
      );
    case 'not-served':
      return (
        <Notice kind="info" title={`This server does not show ${what}s.`}>
          {hasIndex ? message : 'It has no index (API v3): history, traces and tokens are not available.'}
        </Notice>
      );
    case 'not-found':
      return <NotFound what={what} said={message} coverage={coverage} />;
    default:
      return (
        <Notice kind="error" title={`The ${what} could not be loaded.`}>
          {message}
        </Notice>
      );
  }
}

interface NotFoundProps {
  readonly what: string;
  /** What the API says. */
  readonly said?: string | undefined;
  readonly coverage?: string | null | undefined;
}

/** Blocks that an index may be behind while it follows. */
const BEHIND = 10;

/** Nothing has this name here: because it does not exist, is not indexed, or belongs to another network. */
export function NotFound({ what, said, coverage }: NotFoundProps) {
  const { readiness, head } = useNetwork();
  const names = Object.keys(readiness?.networks ?? {}).join(', ');
  const details = Object.values(readiness?.networks ?? {})[0]?.details;
  const indexed = coverage ?? (typeof details?.index_coverage === 'string' ? details.index_coverage : null);
  const first = indexed === null ? null : firstIndexed(indexed);
  const last = details?.index_head_seqno;
  return (
    <Notice kind="info" title={`There is no such ${what}.`}>
      {said !== undefined && <p>{said}</p>}
      <ul>
        <li>It may not be in a block yet. This page looks again with each new block.</li>
        {typeof last === 'number' && last + BEHIND < head && (
          <li>
            It may be newer than the index, which is at masterchain block <McBlockLink seqno={last} /> of{' '}
            {countText(head)}, and catches up.
          </li>
        )}
        {first !== null && first > 1 && (
          <li>
            It may be older than the index, which begins with masterchain block <McBlockLink seqno={first} />.
          </li>
        )}
        <li>
          It may belong to another network: this one is {names === '' ? 'not known yet' : <b>{names}</b>}, at
          masterchain block {countText(head)}.
        </li>
      </ul>
    </Notice>
  );
}

/** Stands where something is being loaded. */
export function Loading({ what }: { readonly what: string }) {
  return (
    <div class="loading" role="status">
      <span class="loading-bar" />
      <span class="visually-hidden">Loading {what}</span>
    </div>
  );
}
