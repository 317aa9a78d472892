/** Names of plans, networks, liteserver groups and owners: safe in files, in log lines and as parts of keys in Redis. */
export const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** {@link NAME} in words. */
export const NAME_IN_WORDS = 'a name of up to 64 letters, digits, ".", "_" and "-", a letter or digit first';
