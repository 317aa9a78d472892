import { defineErrors } from '#kernel/tern-error.js';

const OF_THE_TOKEN =
  'Nothing to do here: the link stands in the contract of the token, and only its owner can change it.';
const OF_ITS_SERVER =
  'Nothing to do here: the server that the token links to is at fault. It is asked again later, by itself.';

/** Errors of reading what tokens say of themselves off the chain. Those of the class `caller` lie in the link itself. */
export const metadataErrors = defineErrors('metadata', {
  // The link
  link: {
    class: 'caller',
    message: (d: { link: string; problem: string }) => `the link ${d.link} of the token ${d.problem}`,
    remedy: OF_THE_TOKEN,
  },
  scheme: {
    class: 'caller',
    message: (d: { scheme: string }) =>
      `links to ${d.scheme} are not followed; those to http, https, ipfs and data are`,
    remedy: OF_THE_TOKEN,
  },
  'data-uri': {
    class: 'caller',
    message: (d: { problem: string }) => `the data URI of the token ${d.problem}`,
    remedy: OF_THE_TOKEN,
  },
  port: {
    class: 'caller',
    message: (d: { port: number; accepted: string }) => `port ${d.port} is not asked; the ports ${d.accepted} are`,
    remedy: OF_THE_TOKEN,
  },
  host: {
    class: 'caller',
    message: (d: { host: string; problem: string }) => `the host ${d.host} is not asked: ${d.problem}`,
    remedy:
      'Nothing to do: links of tokens must not reach what is inside of a network, such as the one of this service.',
  },
  address: {
    class: 'caller',
    message: (d: { host: string; address: string; problem: string }) =>
      `the host ${d.host} is not asked: its address ${d.address} ${d.problem}`,
    remedy:
      'Nothing to do: links of tokens must not reach what is inside of a network, such as the one of this service.',
  },
  // The way to the server
  unresolved: {
    class: 'upstream',
    message: (d: { host: string; problem: string }) => `the name ${d.host} has no address: ${d.problem}`,
    remedy: 'Look whether this machine resolves names, if all tokens fail so. It is tried again later, by itself.',
  },
  unreachable: {
    class: 'upstream',
    message: (d: { host: string; problem: string }) => `the server ${d.host} cannot be asked: ${d.problem}`,
    remedy:
      'Look whether this machine reaches the internet, if all tokens fail so. It is tried again later, by itself.',
  },
  time: {
    class: 'upstream',
    message: (d: { host: string; what: string; afterMs: number }) =>
      `the server ${d.host} ${d.what} within ${d.afterMs} ms`,
    remedy: OF_ITS_SERVER,
  },
  // What it answers
  status: {
    class: 'upstream',
    message: (d: { host: string; status: number }) => `the server ${d.host} answers with HTTP status ${d.status}`,
    remedy: OF_ITS_SERVER,
  },
  redirects: {
    class: 'upstream',
    message: (d: { host: string; problem: string }) => `the server ${d.host} ${d.problem}`,
    remedy: OF_ITS_SERVER,
  },
  'too-large': {
    class: 'upstream',
    message: (d: { what: string; most: number }) => `${d.what} has more than ${d.most} bytes`,
    remedy: OF_ITS_SERVER,
  },
  'content-type': {
    class: 'upstream',
    message: (d: { found: string }) => `the document is ${d.found}, and not JSON or text`,
    remedy: OF_ITS_SERVER,
  },
  'content-encoding': {
    class: 'upstream',
    message: (d: { encoding: string; problem: string }) => `the encoding ${d.encoding} of the document ${d.problem}`,
    remedy: OF_ITS_SERVER,
  },
  'not-utf8': {
    class: 'upstream',
    message: () => 'the document is not UTF-8',
    remedy: OF_ITS_SERVER,
  },
  'not-json': {
    class: 'upstream',
    message: (d: { problem: string }) => `the document is no JSON object: ${d.problem}`,
    remedy: OF_ITS_SERVER,
  },
  // The service
  stopped: {
    class: 'shutting-down',
    message: () => 'the fetching of metadata was ended',
    remedy: 'Nothing to do: it goes on with the next start.',
  },
  unexpected: {
    class: 'internal',
    message: (d: { problem: string }) => `metadata could not be fetched: ${d.problem}`,
    remedy: 'Please report this with the sentence and the link of the token.',
  },
  overrides: {
    class: 'caller',
    message: (d: { file: string; problem: string }) =>
      `the overrides of metadata in ${d.file} cannot be used: ${d.problem}`,
    remedy: 'Correct the file that --metadata-overrides names; docs/guides/self-hosting.md has an example.',
  },
});
