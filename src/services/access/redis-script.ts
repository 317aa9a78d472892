/**
 * Takes one request, at the time of the Redis server. One key holds a subject: the moment when its bucket is full again
 * (`full`, milliseconds; see token-bucket.ts), the day that is counted (`day`, days since 1970) and the requests of it
 * (`used`). It goes when neither says anything any more. One key for each call, so that it works in a cluster, too.
 *
 * ARGV: rate per second or '', burst, quota or '', the day of the caller's own count, that count (in case Redis lost its own),
 * slack of the bucket.
 * Returns whether it passed (1), or the limit in the way (0 the rate, -1 the quota); the wait in milliseconds, as text, since
 * Redis would cut off the fraction; the requests of the day.
 */
export const TAKE_SCRIPT = `
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local today = math.floor(now / 86400000)
local stored = redis.call('HMGET', KEYS[1], 'full', 'day', 'used')
local used = 0
if stored[2] and tonumber(stored[2]) == today then used = tonumber(stored[3]) end
if tonumber(ARGV[4]) == today then used = math.max(used, tonumber(ARGV[5])) end
local midnight = (today + 1) * 86400000
local quota = tonumber(ARGV[3])
if quota and used >= quota then return {-1, string.format('%.3f', midnight - now), used} end
local rate = tonumber(ARGV[1])
local full = now
if rate then
  local interval = 1000 / rate
  local slack = tonumber(ARGV[6])
  if stored[1] then full = math.max(tonumber(stored[1]), now) else full = now + slack * interval end
  local wait = full - now - (tonumber(ARGV[2]) - 1 + slack) * interval
  if wait > 0.0005 then return {0, string.format('%.3f', wait), used} end
  full = full + interval
end
local gone = full
if quota then
  used = used + 1
  gone = math.max(full, midnight)
  redis.call('HSET', KEYS[1], 'full', string.format('%.3f', full), 'day', today, 'used', used)
else
  redis.call('HSET', KEYS[1], 'full', string.format('%.3f', full))
end
redis.call('PEXPIRE', KEYS[1], math.ceil(gone - now) + 1000)
return {1, '0', used}
`;
