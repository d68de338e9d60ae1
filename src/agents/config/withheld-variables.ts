import { parseHttpAddress } from '../../util/read-address.ts'
import type { EnvVariable } from './env-file.ts'
import { isSecretName, shownSetting } from './secret-text.ts'
import { someOf } from './some-of.ts'
import type { Withheld } from './withheld.ts'

/**
 * The variables of a file that wait for trust: by name, those first that decide where keys are sent, with what they say,
 * then keys, then all others. `ofPlaces` are those that addresses and paths in the settings are made of.
 */
export function withheldVariables(variables: ReadonlyMap<string, EnvVariable>, ofPlaces: ReadonlySet<string>): readonly Withheld[] {
  if (variables.size === 0) return []
  const rankOf = (name: string, value: string): number => (ofPlaces.has(name) || saysWhere(name, value) ? 0 : isSecretName(name) ? 1 : 2)
  const all = [...variables].map(([name, { value }]) => ({ name, value, rank: rankOf(name, value) })).toSorted((a, b) => a.rank - b.rank)
  const addresses = all.filter(({ rank }) => rank === 0)
  const names = someOf(
    all.map(({ name }) => name),
    ', ',
  )
  return [
    {
      name: `variables ${names.text}`,
      contents: addresses.map(({ name, value }) => `${name}=${shownSetting(value)}`),
      ...(names.left > 0 && { isPartial: true }),
    },
  ]
}

const nameOfPlace = /(?:^|_)(?:(?:BASE)?URL|HOST|HOSTNAME|ENDPOINT|BASE|ADDRESS|DOMAIN|PROXY|PORT)$/i
const saysWhere = (name: string, value: string): boolean => nameOfPlace.test(name) || parseHttpAddress(value) !== undefined
