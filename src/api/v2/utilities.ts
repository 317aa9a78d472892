import { Type } from '@sinclair/typebox';
import type { AnyEndpoint } from '#api/http/endpoint.js';
import { GET_OR_POST, type V2Context, v2Endpoint } from '#api/v2/context.js';
import { hash256Parameter, parsedAddressParameter } from '#api/v2/parameters.js';
import { PRICE } from '#api/v2/price.js';
import { echoedAddress, typeName, upperRaw, v2Object } from '#api/v2/ton-objects.js';
import type { Address } from '#formats/address/address.js';
import { toBase64, toBase64Url, toHex } from '#kernel/bytes.js';

const DetectAddressBase64Variant = v2Object('DetectAddressBase64Variant', {
  '@type': typeName('ext.utils.detectedAddressVariant'),
  b64: Type.String({ description: 'In base64.' }),
  b64url: Type.String({ description: 'In base64url.' }),
});

const DetectAddress = v2Object(
  'DetectAddress',
  {
    '@type': typeName('ext.utils.detectedAddress'),
    raw_form: Type.String({ description: 'Workchain and account id, in lower-case hexadecimal.' }),
    bounceable: DetectAddressBase64Variant,
    non_bounceable: DetectAddressBase64Variant,
    given_type: Type.Union(
      [Type.Literal('raw_form'), Type.Literal('friendly_bounceable'), Type.Literal('friendly_non_bounceable')],
      { description: 'The form of the given address.' },
    ),
    test_only: Type.Boolean({ description: 'Whether the given address has the test-only flag.' }),
  },
  { description: 'All forms of an address.' },
);

const DetectHash = v2Object(
  'DetectHash',
  {
    '@type': typeName('ext.utils.detectedHash'),
    b64: Type.String({ description: 'In base64, 44 characters.' }),
    b64url: Type.String({ description: 'In base64url without padding, 43 characters.' }),
    hex: Type.String({ description: 'In lower-case hexadecimal, 64 digits.' }),
  },
  { description: 'All forms of a hash.' },
);

const PackAddress = Type.String({ $id: 'PackAddress', description: 'User-friendly form, base64url.' });
const UnpackAddress = Type.String({
  $id: 'UnpackAddress',
  description: 'Raw form: workchain, `:`, account id in upper-case hexadecimal.',
});

const TAG = 'Utils';
const address = parsedAddressParameter(
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
  verbs: GET_OR_POST,
  tag: TAG,
  summary: 'All forms of an address',
  description: 'An address in all forms. The user-friendly forms have the test-only flag of the given one.',
  params,
  result: DetectAddress,
  statuses: [422],
  price: () => PRICE.text,
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
  verbs: GET_OR_POST,
  tag: TAG,
  summary: 'All forms of a hash',
  description: '256 bits, given in hexadecimal, base64 or base64url, in all three.',
  params: Type.Object(
    { hash: hash256Parameter('64 hexadecimal digits, 44 characters of base64, or 43 or 44 of base64url.') },
    { additionalProperties: false },
  ),
  result: DetectHash,
  statuses: [422],
  price: () => PRICE.text,
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
  verbs: GET_OR_POST,
  tag: TAG,
  summary: 'An address in user-friendly form',
  description:
    'An address in user-friendly form (base64url), with the flags of the given one; a raw address becomes bounceable.',
  params,
  result: PackAddress,
  statuses: [422],
  price: () => PRICE.text,
  freshness: 'forever',
  handle: async ({ address: parsed }) => echoedAddress(parsed),
});

const unpackAddress = v2Endpoint({
  name: 'unpackAddress',
  verbs: GET_OR_POST,
  tag: TAG,
  summary: 'An address in raw form',
  description: 'An address as workchain, `:` and 64 upper-case hexadecimal digits.',
  params,
  result: UnpackAddress,
  statuses: [422],
  price: () => PRICE.text,
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
