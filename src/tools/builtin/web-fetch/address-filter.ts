import { lookup as resolveName } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import { isIP } from 'node:net'
import type { ToolFailure } from '../../../contracts/index.ts'
import { isPublicAddress } from '../../../util/private-address.ts'
import { hostOf, portOf } from './parse-url.ts'

export interface ResolvedAddress {
  readonly address: string
  readonly family: number
}

export type ResolveName = (host: string) => Promise<readonly ResolvedAddress[]>

export const resolveWithSystem: ResolveName = (host) => resolveName(host, { all: true })

export class PrivateAddressError extends Error {
  override readonly name = 'PrivateAddressError'
  readonly failure: ToolFailure

  constructor(host: string) {
    super(`${host} is not a public address`)
    const message = `${host} is not a public address.`
    this.failure = { class: 'blocked', message, remedy: 'Use another tool for local services.' }
  }
}

/** Allows public addresses. The checked address is the one that is connected to: a name may resolve differently later. */
export class AddressFilter {
  readonly #allowed: ReadonlySet<string>
  readonly #resolve: ResolveName

  /** `allowed`: private hosts, each with its port: `127.0.0.1:8080`, `wiki.internal:443`. */
  constructor(allowed: readonly string[], resolve: ResolveName) {
    this.#allowed = new Set(allowed.map((entry) => entry.toLowerCase()))
    this.#resolve = resolve
  }

  /** For one request. Throws `PrivateAddressError` if the host is a private IP address. */
  lookupFor(url: URL): LookupFunction {
    const host = hostOf(url)
    const mayBePrivate = this.#allowed.has(`${url.hostname}:${portOf(url)}`)
    if (isIP(host) && !mayBePrivate && !isPublicAddress(host)) throw new PrivateAddressError(host)
    return (_name, options, answer) => {
      this.#resolve(host)
        .then((found) => checked(host, { found, mayBePrivate }))
        .then(
          (addresses) => {
            const [first] = addresses
            if (options.all) answer(null, [...addresses])
            else answer(null, first?.address ?? '', first?.family)
          },
          (error: NodeJS.ErrnoException) => answer(error, '', 0),
        )
    }
  }
}

interface Found {
  readonly found: readonly ResolvedAddress[]
  readonly mayBePrivate: boolean
}

function checked(host: string, { found, mayBePrivate }: Found): readonly ResolvedAddress[] {
  if (found.length === 0) throw Object.assign(new Error(`${host} has no address`), { code: 'ENOTFOUND' })
  // A private address among public ones may be an attack.
  if (!mayBePrivate && !found.every(({ address }) => isPublicAddress(address))) throw new PrivateAddressError(host)
  return found
}
