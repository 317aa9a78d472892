import { defineErrors } from '#kernel/errors/define-errors.js';

/** What goes wrong when a network is to begin. */
export const genesisErrors = defineErrors('genesis', {
  'missing-param': {
    class: 'caller',
    message: (d: { param: number; name: string }) => `the configuration has no parameter ${d.param} (${d.name})`,
    remedy: 'Give the whole configuration of a network: every network has this parameter.',
  },
  'no-basechain': {
    class: 'caller',
    message: (_: Record<string, never>) => 'the configuration has no workchain 0 with addresses of 256 bits',
    remedy: 'Give the configuration of a network that has a basechain.',
  },
});
