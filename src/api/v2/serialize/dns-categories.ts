/** Names of categories of DNS records (TEP-81) by their SHA-256, in lower-case hexadecimal. */
export const DNS_CATEGORIES: ReadonlyMap<string, string> = new Map([
  ['19f02441ee588fdb26ee24b2568dd035c3c9206e11ab979be62e55558a1d17ff', 'dns_next_resolver'],
  ['e8d44050873dba865aa7c170ab4cce64d90839a34dcfd6cf71d14e0205443b1b', 'wallet'],
  ['fbae041b02c41ed0fd8a4efb039bc780dd6af4a1f0c420f42561ae705dda43fe', 'site'],
  ['49a25f9feefaffecad0fcd30c50dc9331cff8b55ece53def6285c09e17e6f5d7', 'storage'],
]);
