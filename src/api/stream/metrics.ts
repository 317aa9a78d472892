import { type MetricRow, rowsNamed } from '#kernel/metric-rows.js';

/** Figures of the streams of a network; counts since the start. */
export interface HubMetrics {
  readonly subscribers: number;
  readonly replaying: number;
  readonly watched: number;
  readonly events: number;
  readonly sent: number;
  readonly lagging: number;
  readonly resumed: number;
  readonly seqno: number;
  readonly actions_seqno: number;
  readonly incomplete: number;
}

const row = rowsNamed<HubMetrics>('tern_stream_');

export const hubMetricRows: readonly MetricRow<HubMetrics>[] = [
  row('gauge', 'subscribers', 'Open streams', ({ subscribers }) => subscribers),
  row('gauge', 'replaying', 'Streams that are being brought up to date from the index', ({ replaying }) => replaying),
  row('gauge', 'watched', 'Accounts and traces that streams wait for', ({ watched }) => watched),
  row('counter', 'events_total', 'Finalized events that somebody was waiting for', ({ events }) => events),
  row('counter', 'sent_total', 'Events sent to clients', ({ sent }) => sent),
  row('counter', 'lagging_total', 'Streams closed because their clients did not read', ({ lagging }) => lagging),
  row('counter', 'resumed_total', 'Streams that were brought up to date from the index', ({ resumed }) => resumed),
  row('gauge', 'mc_seqno', 'Masterchain block up to which transactions were sent', ({ seqno }) => seqno),
  row(
    'gauge',
    'actions_mc_seqno',
    'Masterchain block up to which actions were sent',
    ({ actions_seqno }) => actions_seqno,
  ),
  row(
    'counter',
    'incomplete_total',
    'Times that streams went on without actions or jetton wallets that were not known a minute after their block',
    ({ incomplete }) => incomplete,
  ),
];
