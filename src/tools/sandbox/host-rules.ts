import { coversHost, plainHost } from '../../util/host-pattern.ts'
import { isPublicAddress } from '../../util/private-address.ts'

// Which hosts a command may reach. Pure.

/** Whether a policy's hosts name this one: `example.com` itself, `*.example.com` whatever is below it. */
export const isAllowedHost = (hosts: readonly string[], host: string): boolean => hosts.some((pattern) => coversHost(pattern, host))

/**
 * Whether a connection may be made to an address that a name stands for. Whoever owns a name can let it point anywhere,
 * so places inside of the house have to be named as they are.
 */
export function isAllowedAddress(host: string, address: string): boolean {
  return isPublicAddress(address) || plainHost(host) === plainHost(address) || plainHost(host) === 'localhost'
}
