import { BlockList, isIP } from 'node:net'

/*
 * What a page may stand on: addresses of the public network. Everything else (this machine, its neighbours, the services
 * that tell a cloud machine its keys, and forms that hide one of those) is refused.
 */

const special = new BlockList()
for (const [network, prefix] of [
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
] as const)
  special.addSubnet(network, prefix, 'ipv4')

/** Within what is public of IPv6: tunnels, documentation, and networks for special use. */
const special6 = new BlockList()
for (const [network, prefix] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const)
  special6.addSubnet(network, prefix, 'ipv6')

const public6 = new BlockList()
public6.addSubnet('2000::', 3, 'ipv6')

/** Where a network speaks IPv6 alone, IPv4 is reached by these, with the address in the last four bytes. */
const translated = /^64:ff9b::([0-9a-f]{1,4}):([0-9a-f]{1,4})$/
const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/

/** Whether an address is one of the public network. What is no address is not. */
export function isPublicAddress(address: string): boolean {
  const [plain = ''] = address.split('%', 1)
  switch (isIP(plain)) {
    case 4:
      return !special.check(plain, 'ipv4')
    case 6:
      return isPublic6(plain)
    default:
      return false
  }
}

function isPublic6(address: string): boolean {
  // The URL parser has one way to write each address.
  const written = URL.parse(`http://[${address}]/`)?.hostname.slice(1, -1) ?? ''
  const [, high, low] = mapped.exec(written) ?? translated.exec(written) ?? []
  if (high !== undefined && low !== undefined) return !special.check(dotted(high, low), 'ipv4')
  return public6.check(address, 'ipv6') && !special6.check(address, 'ipv6')
}

function dotted(high: string, low: string): string {
  const bytes = [Number.parseInt(high, 16), Number.parseInt(low, 16)].flatMap((pair) => [pair >> 8, pair & 0xff])
  return bytes.join('.')
}
