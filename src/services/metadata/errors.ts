import { defineErrors } from '#kernel/tern-error.js';

const OF_THE_TOKEN = 'No action needed: the link is in the contract of the token, and only its owner can change it.';
const OF_ITS_SERVER = 'No action needed: the fault is at the server that the token links to. Tern tries again later.';

/** Errors of fetching off-chain token metadata. Those of the class `caller` lie in the link itself. */
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
      `links of the scheme ${d.scheme} are not supported; http, https, ipfs and data are`,
    remedy: OF_THE_TOKEN,
  },
  'data-uri': {
    class: 'caller',
    message: (d: { problem: string }) => `the data URI of the token ${d.problem}`,
    remedy: OF_THE_TOKEN,
  },
  port: {
    class: 'caller',
    message: (d: { port: number; accepted: string }) =>
      `port ${d.port} is not allowed; allowed ports are ${d.accepted}`,
    remedy: OF_THE_TOKEN,
  },
  host: {
    class: 'caller',
    message: (d: { host: string; problem: string }) => `the host ${d.host} is not allowed: ${d.problem}`,
    remedy: 'No action needed: links of tokens must not reach private networks, such as the one of this service.',
  },
  address: {
    class: 'caller',
    message: (d: { host: string; address: string; problem: string }) =>
      `the host ${d.host} is not allowed: its address ${d.address} ${d.problem}`,
    remedy: 'No action needed: links of tokens must not reach private networks, such as the one of this service.',
  },
  // The connection
  unresolved: {
    class: 'upstream',
    message: (d: { host: string; problem: string }) => `the host name ${d.host} does not resolve: ${d.problem}`,
    remedy: 'Check the DNS configuration of this machine if all tokens fail this way. Tern tries again later.',
  },
  unreachable: {
    class: 'upstream',
    message: (d: { host: string; problem: string }) => `the server ${d.host} cannot be reached: ${d.problem}`,
    remedy: 'Check the internet connection of this machine if all tokens fail this way. Tern tries again later.',
  },
  time: {
    class: 'upstream',
    message: (d: { host: string; what: string; afterMs: number }) =>
      `the server ${d.host} ${d.what} within ${d.afterMs} ms`,
    remedy: OF_ITS_SERVER,
  },
  // The response
  status: {
    class: 'upstream',
    message: (d: { host: string; status: number }) => `the server ${d.host} responds with HTTP status ${d.status}`,
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
    message: (d: { found: string }) => `the document has the type ${d.found}, and not JSON or text`,
    remedy: OF_ITS_SERVER,
  },
  'content-encoding': {
    class: 'upstream',
    message: (d: { encoding: string; problem: string }) => `the content encoding ${d.encoding} ${d.problem}`,
    remedy: OF_ITS_SERVER,
  },
  'not-utf8': {
    class: 'upstream',
    message: () => 'the document is not valid UTF-8',
    remedy: OF_ITS_SERVER,
  },
  'not-json': {
    class: 'upstream',
    message: (d: { problem: string }) => `the document is not a JSON object: ${d.problem}`,
    remedy: OF_ITS_SERVER,
  },
  // The service
  stopped: {
    class: 'shutting-down',
    message: () => 'fetching of metadata was stopped',
    remedy: 'No action needed: it continues with the next start.',
  },
  unexpected: {
    class: 'internal',
    message: (d: { problem: string }) => `metadata could not be fetched: ${d.problem}`,
    remedy: 'Please report this with the sentence and the link of the token.',
  },
  overrides: {
    class: 'caller',
    message: (d: { file: string; problem: string }) => `the metadata overrides in ${d.file} are invalid: ${d.problem}`,
    remedy: 'Correct the file that --metadata-overrides names; docs/guides/self-hosting.md has an example.',
  },
});
