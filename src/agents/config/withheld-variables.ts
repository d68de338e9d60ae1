import { readAddress } from '../../util/read-address.ts'
import type { EnvVariable } from './env-file.ts'
import { isSecretName, shownSetting } from './secret-text.ts'
import { someOf } from './some-of.ts'
import type { Withheld } from './withheld.ts'

/**
 * The variables of a file that wait for trust: by name, those first that decide where keys are sent, with what they say,
 * then keys, then all others.
 */
export function withheldVariables(variables: ReadonlyMap<string, EnvVariable>): readonly Withheld[] {
  if (variables.size === 0) return []
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

function rankOf(name: string, value: string): number {
  if (/(?:^|_)(?:URL|HOST|ENDPOINT)$/i.test(name) || readAddress(value)) return 0
  return isSecretName(name) ? 1 : 2
}
