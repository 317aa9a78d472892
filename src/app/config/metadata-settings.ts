import { one, optional, path, wholeNumber, words } from '#app/config/setting.js';

const metadata = {
  ...words('on', 'off'),
  meaning:
    'whether the links of tokens are followed, from the process that writes the index and to public addresses only, for their names and images',
};

/** Settings of what tokens say of themselves off the chain. */
export const metadataSettings = {
  metadata: one({ ...metadata, fallback: 'on' }),
  metadataOverrides: optional({
    ...path('FILE'),
    meaning: 'what is told of some tokens instead of what they say; read again when it changes',
  }),
  metadataFetches: one({
    ...wholeNumber('N', 1, 256),
    fallback: '16',
    meaning: 'links of tokens that are followed at the same time, for each network',
  }),
  ipfsGateway: optional({
    placeholder: 'URL',
    accepted: 'http://HOST[:PORT][/PATH] or https://…, without /ipfs',
    parse: parseGateway,
    meaning:
      'the gateway through which links to IPFS are followed; one in a private network may be named; default: https://ipfs.io',
  }),
};

/** The same for recorded chains, whose links lead nowhere. */
export const devMetadataSettings = { ...metadataSettings, metadata: one({ ...metadata, fallback: 'off' }) };

function parseGateway(text: string): string | undefined {
  if (!/^https?:\/\/[^\s?#@\\]+$/i.test(text) || !URL.canParse(text)) return undefined;
  return new URL(text).href.replace(/\/+$/, '').replace(/\/ipfs$/, '');
}
