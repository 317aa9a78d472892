import { defineErrors, type TernError } from '#kernel/tern-error.js';

export const cliErrors = defineErrors('cli', {
  usage: {
    class: 'caller',
    message: (d: { problem: string }) => d.problem,
    remedy: 'Run tern --help for all commands, tern COMMAND --help for the options of a command.',
  },
  input: {
    class: 'caller',
    message: (d: { argument: string; problem: string }) => `"${d.argument}" ${d.problem}`,
    remedy: 'Pass a file, hex, base64, or - for standard input.',
  },
  file: {
    class: 'caller',
    message: (d: { file: string; problem: string }) => `${d.file} ${d.problem}`,
    remedy: 'Use another file, or correct this one.',
  },
  'no-such-type': {
    class: 'caller',
    message: (d: { type: string; known: string }) => `unknown type "${d.type}"; known types: ${d.known}`,
    remedy: 'Omit --type to detect the type.',
  },
  'too-large': {
    class: 'caller',
    message: (d: { values: number }) => `the JSON would have more than ${d.values} values`,
    remedy: 'Use --tree, which prints each cell once.',
  },
  'index-differs': {
    class: 'caller',
    message: (d: { differences: number; missing: number }) =>
      `the index differs from the chain: ${d.differences} differences, ${d.missing} missing ranges`,
    remedy:
      'Fill missing ranges with tern index or a running indexer. For differences, index again into an empty database, and report them with the output above.',
  },
  'no-server-at': {
    class: 'upstream',
    message: (d: { url: string; problem: string }) => `there is no Tern at ${d.url}: ${d.problem}`,
    remedy: 'Start one, or name it with --url.',
  },
  interrupted: {
    class: 'shutting-down',
    message: (d: { command: string }) => `${d.command} was interrupted`,
    remedy: 'Run the command again; blocks written by tern index remain.',
  },
  'no-localnet': {
    class: 'upstream',
    message: (d: { url: string; problem: string }) => `no server at ${d.url}: ${d.problem}`,
    remedy: 'Start a local network with npm start (tern dev), or set its URL with --url or TERN_URL.',
  },
  'explain-source': {
    class: 'upstream',
    message: (d: { url: string; problem: string }) => `no answer from ${d.url}: ${d.problem}`,
    remedy: 'Set the URL of a service with API v3 with --url or TERN_URL.',
  },
  'send-source': {
    class: 'upstream',
    message: (d: { url: string; problem: string }) => `no answer from ${d.url}: ${d.problem}`,
    remedy: 'Set the URL of a service with API v3 with --url or TERN_URL.',
  },
  'send-refused': {
    class: 'caller',
    message: (d: { problem: string; status: number }) => `the service refused it (${d.status}): ${d.problem}`,
    remedy: 'Correct the message as the text says, and send it again.',
  },
  'send-no-api': {
    class: 'upstream',
    message: (d: { url: string }) => `the service at ${d.url} has no API v3`,
    remedy: 'Send through a service with an index, or use sendBoc of API v2, which cannot follow messages.',
  },
  'send-busy': {
    class: 'overloaded',
    message: (d: { problem: string; status: number }) => `the service cannot answer now (${d.status}): ${d.problem}`,
    remedy: 'Run the command again later: a message that was sent already is not sent twice.',
  },
  'message-failed': {
    class: 'caller',
    message: (d: { status: string; problem: string }) => `the message is ${d.status}: ${d.problem}`,
    remedy: 'See the trace in GET /api/v3/traces, or the reason above.',
  },
  'not-local': {
    class: 'upstream',
    message: (d: { url: string; status: number }) =>
      `the server at ${d.url} has no local network: it responds with status ${d.status}`,
    remedy: 'Set the URL of the server started by npm start (tern dev) with --url or TERN_URL.',
  },
  'localnet-refused': {
    class: 'caller',
    message: (d: { problem: string }) => `the local network refused the request: ${d.problem}`,
    remedy: 'Correct the request; see the API reference at /localnet of the server.',
  },
  'localnet-failed': {
    class: 'upstream',
    message: (d: { problem: string; status: number }) => `the local network failed (${d.status}): ${d.problem}`,
    remedy: 'Retry; if it fails again, check the output of npm start.',
  },
  'no-signatures': {
    class: 'caller',
    message: (d: { folder: string; block: string }) => `${d.folder} contains no signatures of block ${d.block}`,
    remedy: 'Use a folder created by tern localnet export, or one with the proofs of all masterchain blocks.',
  },
  'no-server': {
    class: 'upstream',
    message: (d: { file: string; servers: number }) =>
      d.servers === 1
        ? `the server of ${d.file} is not healthy`
        : `none of the ${d.servers} servers of ${d.file} is healthy`,
    remedy: 'See the reasons above: check the network, the firewall, and whether the config is current.',
  },
});

/** Formats an error for the terminal as one line: `tern: CODE: message. remedy`. */
export function errorLine(error: TernError): string {
  const sentence = /[.!?]$/.test(error.message) ? error.message : `${error.message}.`;
  return `tern: ${error.code}: ${sentence} ${error.remedy}`.replace(/\s+/g, ' ').trim();
}
