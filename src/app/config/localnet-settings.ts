import { optional } from '#app/config/setting.js';

/** Settings of `tern localnet`. */
export const localnetSettings = {
  url: optional({
    placeholder: 'URL',
    accepted: 'http://HOST[:PORT] or https://…',
    parse: parseUrl,
    meaning: 'where the Tern with the local network listens; default: port 8081 of this machine, or that of TERN_PORT',
  }),
};

/** Without a slash at the end. */
function parseUrl(text: string): string | undefined {
  if (!/^https?:\/\/[^\s?#@\\]+$/i.test(text) || !URL.canParse(text)) return undefined;
  return new URL(text).href.replace(/\/+$/, '');
}
