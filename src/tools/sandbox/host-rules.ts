import { isIP } from 'node:net'

// Which hosts a command may reach. Pure.

/** Whether a policy's hosts name this one: `example.com` itself, `*.example.com` whatever is below it. */
export function isAllowedHost(hosts: readonly string[], host: string): boolean {
  const name = plainName(host)
  return name !== '' && hosts.some((pattern) => fits(plainName(pattern), name))
}

/**
 * Whether a connection may be made to an address that a name stands for. Whoever owns a name can let it point anywhere,
 * so places inside of the house have to be named as they are.
 */
export function isAllowedAddress(host: string, address: string): boolean {
  return !isInner(address) || plainName(host) === plainName(address) || plainName(host) === 'localhost'
}

function fits(pattern: string, name: string): boolean {
  if (!pattern.startsWith('*.')) return pattern === name
  // An address has no names below it.
  return isIP(name) === 0 && name.endsWith(pattern.slice(1)) && name.length > pattern.length - 1
}

const plainName = (host: string): string =>
  host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')

/** Loopback, private, link-local (where clouds keep their keys), shared, multicast and reserved ranges. */
function isInner(address: string): boolean {
  const four = /^(?:::ffff:)?(\d+)\.(\d+)\.(\d+)\.\d+$/i.exec(address)
  if (four) return isInnerFour(Number(four[1]), Number(four[2]), Number(four[3]))
  const groups = address.toLowerCase().split(':')
  const head = Number.parseInt(groups[0] || '0', 16)
  // `::`, `::1`, and addresses of version 4 written in or behind one of version 6.
  if (head === 0 || address.toLowerCase().startsWith('64:ff9b') || head === 0x2002) return true
  return (head & 0xfe00) === 0xfc00 || (head & 0xffc0) === 0xfe80 || (head & 0xff00) === 0xff00
}

function isInnerFour(a: number, b: number, c: number): boolean {
  if ([0, 10, 127].includes(a) || a >= 224) return true
  if (a === 100) return b >= 64 && b < 128
  if (a === 169) return b === 254
  if (a === 172) return b >= 16 && b < 32
  if (a === 192) return b === 168 || (b === 0 && (c === 0 || c === 2))
  return a === 198 && (b === 18 || b === 19)
}
