import { defineErrors } from '#kernel/tern-error.js';

const NOT_A_PUBLIC_TARGET =
  'Use a host on the public internet, or allow private networks where the URL comes from whoever operates the service.';
const AT_THE_SERVER = 'The fault is at the server that the URL names; try again later.';

/** Errors of outgoing HTTP requests. Those of the class `caller` lie in the URL or the request itself. */
export const webErrors = defineErrors('web', {
  // The URL and the request
  url: {
    class: 'caller',
    message: (d: { url: string; problem: string }) => `the URL ${d.url} ${d.problem}`,
    remedy: 'Give an absolute http or https URL without user name and password.',
  },
  scheme: {
    class: 'caller',
    message: (d: { scheme: string }) => `the URL scheme ${d.scheme} is not supported; http and https are`,
    remedy: 'Give an http or https URL.',
  },
  request: {
    class: 'caller',
    message: (d: { host: string; problem: string }) => `the request to ${d.host} cannot be sent: ${d.problem}`,
    remedy: 'Correct the method, headers or body of the request.',
  },
  port: {
    class: 'caller',
    message: (d: { port: number; accepted: string }) =>
      `port ${d.port} is not allowed; allowed ports are ${d.accepted}`,
    remedy: 'Use one of the allowed ports.',
  },
  host: {
    class: 'caller',
    message: (d: { host: string; problem: string }) => `the host ${d.host} is not allowed: ${d.problem}`,
    remedy: NOT_A_PUBLIC_TARGET,
  },
  address: {
    class: 'caller',
    message: (d: { host: string; address: string; problem: string }) =>
      `the host ${d.host} is not allowed: its address ${d.address} ${d.problem}`,
    remedy: NOT_A_PUBLIC_TARGET,
  },
  // The connection
  unresolved: {
    class: 'upstream',
    message: (d: { host: string; problem: string }) => `the host name ${d.host} does not resolve: ${d.problem}`,
    remedy: 'Check the name, and the DNS configuration of this machine if no name resolves.',
  },
  unreachable: {
    class: 'upstream',
    message: (d: { host: string; problem: string }) => `the server ${d.host} cannot be reached: ${d.problem}`,
    remedy: 'Check the internet connection of this machine if no server can be reached; else try again later.',
  },
  time: {
    class: 'upstream',
    message: (d: { host: string; what: string; afterMs: number }) =>
      `the server ${d.host} ${d.what} within ${d.afterMs} ms`,
    remedy: AT_THE_SERVER,
  },
  // The response
  redirects: {
    class: 'upstream',
    message: (d: { host: string; problem: string }) => `the server ${d.host} ${d.problem}`,
    remedy: AT_THE_SERVER,
  },
  'too-large': {
    class: 'upstream',
    message: (d: { what: string; most: number }) => `${d.what} has more than ${d.most} bytes`,
    remedy: AT_THE_SERVER,
  },
  'content-encoding': {
    class: 'upstream',
    message: (d: { encoding: string; problem: string }) => `the content encoding ${d.encoding} ${d.problem}`,
    remedy: AT_THE_SERVER,
  },
});
