import { Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { type V2Context, v2Endpoint } from '#api/v2/context.js';
import { addressParameter, hashParameter } from '#api/v2/parameters.js';
import { DetectAddress, DetectHash, PackAddress, UnpackAddress } from '#api/v2/schemas/utilities.js';
import { echoedAddress, upperRaw } from '#api/v2/serialize/address.js';
import type { Address } from '#formats/address/address.js';
import { toBase64, toBase64Url, toHex } from '#kernel/bytes/bytes.js';

const TAG = 'Utils';
const READ = ['GET', 'POST'] as const;
const address = addressParameter(
  'Address in raw form (`0:` or `-1:` and 64 digits) or user-friendly form (48 characters).',
);
const params = Type.Object({ address }, { additionalProperties: false });

function variant(given: Address, bounceable: boolean, testnet: boolean) {
  return {
    '@type': 'ext.utils.detectedAddressVariant' as const,
    b64: given.toFriendly({ bounceable, testnet, urlSafe: false }),
    b64url: given.toFriendly({ bounceable, testnet }),
  };
}

const detectAddress = v2Endpoint({
  name: 'detectAddress',
  verbs: READ,
  tag: TAG,
  summary: 'All forms of an address',
  description:
    'Reads an address in any form and writes it in all of them. The user-friendly forms are for test networks only when ' +
    'the given one is.',
  params,
  result: DetectAddress,
  statuses: [422],
  freshness: 'forever',
  handle: async ({ address: parsed }) => {
    const { address: given, form, bounceable, testnet } = parsed;
    const test_only = testnet ?? false;
    const friendly = bounceable === false ? 'friendly_non_bounceable' : 'friendly_bounceable';
    return {
      '@type': 'ext.utils.detectedAddress' as const,
      raw_form: given.toRaw(),
      bounceable: variant(given, true, test_only),
      non_bounceable: variant(given, false, test_only),
      given_type: form === 'raw' ? ('raw_form' as const) : (friendly as 'friendly_bounceable'),
      test_only,
    };
  },
});

const detectHash = v2Endpoint({
  name: 'detectHash',
  verbs: READ,
  tag: TAG,
  summary: 'All forms of a hash',
  description: 'Reads 256 bits in hexadecimal, base64 or base64url and writes them in all three.',
  params: Type.Object(
    { hash: hashParameter('64 hexadecimal digits, 44 characters of base64, or 43 or 44 of base64url.') },
    { additionalProperties: false },
  ),
  result: DetectHash,
  statuses: [422],
  freshness: 'forever',
  handle: async ({ hash }) => ({
    '@type': 'ext.utils.detectedHash' as const,
    b64: toBase64(hash),
    b64url: toBase64Url(hash),
    hex: toHex(hash),
  }),
});

const packAddress = v2Endpoint({
  name: 'packAddress',
  verbs: READ,
  tag: TAG,
  summary: 'An address in user-friendly form',
  description:
    'Writes an address in user-friendly form (base64url). The flags of a user-friendly address are kept; a raw one becomes ' +
    'bounceable.',
  params,
  result: PackAddress,
  statuses: [422],
  freshness: 'forever',
  handle: async ({ address: parsed }) => echoedAddress(parsed),
});

const unpackAddress = v2Endpoint({
  name: 'unpackAddress',
  verbs: READ,
  tag: TAG,
  summary: 'An address in raw form',
  description: 'Writes an address as workchain, `:` and 64 upper-case hexadecimal digits.',
  params,
  result: UnpackAddress,
  statuses: [422],
  freshness: 'forever',
  handle: async ({ address: parsed }) => upperRaw(parsed.address),
});

/** Methods that need no network, in the order of the document. */
export const utilityEndpoints: readonly AnyEndpoint<V2Context>[] = [
  detectAddress,
  detectHash,
  packAddress,
  unpackAddress,
];
