import type { metadataSettings } from '#app/config/metadata-settings.js';
import type { SettingValues } from '#app/config/setting.js';
import type { NetworkIndexOptions } from '#app/service/index-options.js';

/** How metadata of tokens is looked after, as the settings say. */
export function metadataOptions(settings: SettingValues<typeof metadataSettings>): NetworkIndexOptions['metadata'] {
  const { metadata, metadataOverrides: overrides, metadataFetches: atOnce, ipfsGateway: gateway } = settings;
  return { fetches: metadata === 'on', gateway, atOnce, overrides };
}
