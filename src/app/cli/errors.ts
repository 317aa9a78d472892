import { defineErrors } from '#kernel/tern-error.js';

export const cliErrors = defineErrors('cli', {
  usage: {
    class: 'caller',
    message: (d: { problem: string }) => d.problem,
    remedy: 'Run tern --help for the commands, tern COMMAND --help for the options of one.',
  },
  input: {
    class: 'caller',
    message: (d: { argument: string; problem: string }) => `"${d.argument}" ${d.problem}`,
    remedy: 'Give a file, hex, base64, or - to read standard input.',
  },
  file: {
    class: 'caller',
    message: (d: { file: string; problem: string }) => `${d.file} ${d.problem}`,
    remedy: 'Name another file, or change what is wrong with this one.',
  },
  'no-such-type': {
    class: 'caller',
    message: (d: { type: string; known: string }) => `there is no type "${d.type}"; known are ${d.known}`,
    remedy: 'Leave --type out to let Tern find the type.',
  },
  'too-large': {
    class: 'caller',
    message: (d: { values: number }) => `as JSON it would have more than ${d.values} values`,
    remedy: 'Use --tree, which shows each cell once.',
  },
  'index-differs': {
    class: 'caller',
    message: (d: { differences: number; missing: number }) =>
      `the index is not as the chain: ${d.differences} differences, ${d.missing} ranges that are not indexed`,
    remedy:
      'What is missing is filled in by tern index or a running indexer; for differences, index anew into an empty database, and report them with what stands above.',
  },
  interrupted: {
    class: 'shutting-down',
    message: (d: { command: string }) => `${d.command} was ended before it was done`,
    remedy: 'Give the same command again; what tern index has written stays.',
  },
  'no-localnet': {
    class: 'upstream',
    message: (d: { url: string; problem: string }) => `nothing answers at ${d.url}: ${d.problem}`,
    remedy: 'Start a local network with npm start (tern dev), or say with --url or TERN_URL where it listens.',
  },
  'not-local': {
    class: 'upstream',
    message: (d: { url: string; status: number }) =>
      `what listens at ${d.url} has no local network: it answers with status ${d.status}`,
    remedy: 'Say with --url or TERN_URL where the Tern listens that npm start (tern dev) started.',
  },
  'localnet-refused': {
    class: 'caller',
    message: (d: { problem: string }) => `the local network refuses it: ${d.problem}`,
    remedy: 'Change what was asked for; the page /localnet of the server says what may be.',
  },
  'localnet-failed': {
    class: 'upstream',
    message: (d: { problem: string; status: number }) => `the local network failed (${d.status}): ${d.problem}`,
    remedy: 'Ask again; when it fails again, look at what npm start has printed.',
  },
  'no-signatures': {
    class: 'caller',
    message: (d: { folder: string; block: string }) => `${d.folder} has no signatures of block ${d.block}`,
    remedy: 'Take the folder from tern localnet export, or another one with the proofs of all masterchain blocks.',
  },
  'no-server': {
    class: 'upstream',
    message: (d: { file: string; servers: number }) =>
      d.servers === 1
        ? `the server of ${d.file} is not healthy`
        : `none of the ${d.servers} servers of ${d.file} is healthy`,
    remedy: 'Look at the reasons above: the network, a firewall, or an old config may be at fault.',
  },
});
