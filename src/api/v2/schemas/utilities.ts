import { type Static, Type } from '@sinclair/typebox';
import { namedObject, typeName } from '#api/v2/schemas/ton-objects.js';

const DetectAddressBase64Variant = namedObject('DetectAddressBase64Variant', {
  '@type': typeName('ext.utils.detectedAddressVariant'),
  b64: Type.String({ description: 'In base64.' }),
  b64url: Type.String({ description: 'In base64url: can stand in a URL.' }),
});

export const DetectAddress = namedObject(
  'DetectAddress',
  {
    '@type': typeName('ext.utils.detectedAddress'),
    raw_form: Type.String({ description: 'Workchain and account id, in lower-case hexadecimal.' }),
    bounceable: DetectAddressBase64Variant,
    non_bounceable: DetectAddressBase64Variant,
    given_type: Type.Union(
      [Type.Literal('raw_form'), Type.Literal('friendly_bounceable'), Type.Literal('friendly_non_bounceable')],
      { description: 'The form of the text that was given.' },
    ),
    test_only: Type.Boolean({ description: 'Whether the text says that it is for test networks only.' }),
  },
  { description: 'All forms of an address.' },
);
export type DetectAddress = Static<typeof DetectAddress>;

export const DetectHash = namedObject(
  'DetectHash',
  {
    '@type': typeName('ext.utils.detectedHash'),
    b64: Type.String({ description: 'In base64, 44 characters.' }),
    b64url: Type.String({ description: 'In base64url without padding, 43 characters.' }),
    hex: Type.String({ description: 'In lower-case hexadecimal, 64 digits.' }),
  },
  { description: 'All forms of a hash.' },
);
export type DetectHash = Static<typeof DetectHash>;

export const PackAddress = Type.String({ $id: 'PackAddress', description: 'User-friendly form, base64url.' });
export const UnpackAddress = Type.String({
  $id: 'UnpackAddress',
  description: 'Raw form: workchain, `:`, account id in upper-case hexadecimal.',
});
