// Which addresses are public. All others are refused for pages and commands: this machine, private networks, metadata services of
// clouds, and notations that hide one of those.

type Bytes = readonly number[]
type Network = readonly [start: string, bits: number]

const special4 = networks([
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
])

const public6 = networks([['2000::', 3]])
/** Within `public6`: tunnels, documentation, and networks for special use. */
const special6 = networks([
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
])
/** IPv4 addresses in the last four bytes: mapped, and NAT64. */
const wrapped4 = networks([
  ['::ffff:0:0', 96],
  ['64:ff9b::', 96],
])

/** `false` for what is not an IP address. */
export function isPublicAddress(address: string): boolean {
  const bytes = addressBytes(address)
  if (!bytes) return false
  if (bytes.length === 4) return !isIn(special4, bytes)
  if (isIn(wrapped4, bytes)) return !isIn(special4, bytes.slice(12))
  return isIn(public6, bytes) && !isIn(special6, bytes)
}

/** Whether a host is an IPv4 or IPv6 address. */
export const isAddress = (host: string): boolean => addressBytes(host) !== undefined

function networks(written: readonly Network[]): readonly (readonly [start: Bytes, bits: number])[] {
  return written.map(([start, bits]) => [addressBytes(start) ?? [], bits])
}

const isIn = (among: ReturnType<typeof networks>, bytes: Bytes): boolean =>
  among.some(([start, bits]) => start.every((byte, index) => ((byte ^ (bytes[index] ?? 0)) & maskOf(bits - index * 8)) === 0))

const maskOf = (bits: number): number => (0xff << (8 - Math.min(8, Math.max(0, bits)))) & 0xff

/** Four or sixteen bytes, without a zone (`fe80::1%eth0`). */
function addressBytes(address: string): Bytes | undefined {
  const [plain = '', zone] = address.split('%', 2)
  if (plain.includes(':')) return bytesOf6(plain)
  return zone === undefined ? bytesOf4(plain) : undefined
}

function bytesOf4(address: string): Bytes | undefined {
  const parts = address.split('.')
  const isNumber = (part: string): boolean => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256
  return parts.length === 4 && parts.every(isNumber) ? parts.map(Number) : undefined
}

function bytesOf6(address: string): Bytes | undefined {
  const [before = '', after, ...more] = address.split('::')
  if (more.length > 0) return undefined
  const [head, tail] = [groupBytes(before, after === undefined), groupBytes(after ?? '', true)]
  if (!head || !tail) return undefined
  const missing = 16 - head.length - tail.length
  const isWhole = after === undefined ? missing === 0 : missing >= 2
  return isWhole ? [...head, ...Array.from({ length: missing }, () => 0), ...tail] : undefined
}

/** Groups of four hexadecimal digits; the last may be an IPv4 address. */
function groupBytes(written: string, isLast: boolean): Bytes | undefined {
  if (written === '') return []
  const groups = written.split(':')
  const bytes = groups.map((group, index) => {
    if (/^[0-9a-f]{1,4}$/i.test(group)) return [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff]
    return isLast && index === groups.length - 1 ? bytesOf4(group) : undefined
  })
  return bytes.includes(undefined) ? undefined : bytes.flatMap((each) => each ?? [])
}
