/** What can be wrong with one of three servers. */
export type FaultName =
  | 'nothing'
  | 'stalls'
  | 'resets'
  | 'resets now and then'
  | 'drips'
  | 'sends garbage'
  | 'is ten times as slow';

/** Where a server is reached, as processes tell each other. */
export interface ServerSpec {
  readonly host: string;
  readonly port: number;
  readonly publicKey: readonly number[];
}

/** To the process of the servers. */
export type ServersCommand = { readonly fault: FaultName } | 'heal';

/** To the process of a client. */
export type ClientCommand =
  | { readonly open: readonly ServerSpec[] }
  | { readonly sampleMs: number; readonly inFlight: number }
  | 'close';

/** What a process answers to each command: its result, or why there is none. */
export type Reply<Result> = { readonly result: Result } | { readonly problem: string };
