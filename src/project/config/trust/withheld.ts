import type { Json } from '../../../contracts/index.ts'
import { isRecord } from '../../../util/is-record.ts'
import { parseHttpAddress } from '../../../util/read-address.ts'
import { shellWord } from '../../../util/shell-word.ts'
import type { EnvVariable } from '../files/env-file.ts'
import { isSecretName, redactAddress, redactForTrust } from '../hide-secrets.ts'

/** A part of a file that takes effect only after a person trusts the file. */
export interface Withheld {
  /** By path: `providers`, `the allow rule in approvals.rules`. */
  readonly name: string
  /** Its contents without credentials: a program with its arguments, an address, a rule. */
  readonly contents: readonly string[]
  /** `name` does not list everything. */
  readonly isPartial?: true
}

export function withheldPart(name: string, value: Json, path: readonly string[]): Withheld {
  return { name, contents: contentsOf(redactForTrust(value, path), path) }
}

function contentsOf(value: Json, path: readonly string[]): readonly string[] {
  if (Array.isArray(value)) return (value as readonly Json[]).map((each) => (path[0] === 'hooks' ? hookText(each) : textOf(each)))
  if (!isRecord(value)) return [textOf(value)]
  return Object.entries(value).map(
    ([key, inner]) => `${key}: ${path[0] === 'mcpServers' ? serverText(inner ?? null) : textOf(inner ?? null)}`,
  )
}

/** `allow shell(npm test)`, `baseURL https://lab.example/v1, apiKey ${LAB_KEY}`. */
function textOf(value: Json): string {
  if (Array.isArray(value)) return (value as readonly Json[]).map(textOf).join(', ')
  if (!isRecord(value)) return String(value)
  return Object.entries(value)
    .map(([key, inner]) => `${key} ${textOf(inner ?? null)}`)
    .join(', ')
}

/** `guard: ./guard.sh --strict, at before_call of shell`. */
function hookText(hook: Json): string {
  if (!isRecord(hook)) return textOf(hook)
  const { name = '', command, module, on = [], tools } = hook
  const runs = command === undefined ? `module ${textOf(module ?? '')}` : commandLine(command)
  return `${textOf(name)}: ${runs}, at ${textOf(on)}${tools === undefined ? '' : ` of ${textOf(tools)}`}`
}

/** Shows a program as a command line, and the rest as written. */
function serverText(server: Json): string {
  if (!isRecord(server) || typeof server.command !== 'string') return textOf(server)
  const { command, args = [], ...rest } = server
  const more = textOf(rest)
  return `${commandLine([command, ...(Array.isArray(args) ? args : [args])])}${more === '' ? '' : `, ${more}`}`
}

const commandLine = (words: Json): string =>
  Array.isArray(words) ? words.map((word: Json) => shellWord(textOf(word))).join(' ') : textOf(words)

/** First the `addressVariables` (in addresses and paths of the settings) with their values, then keys, then all others. */
export function withheldVariables(variables: ReadonlyMap<string, EnvVariable>, addressVariables: ReadonlySet<string>): readonly Withheld[] {
  if (variables.size === 0) return []
  const rankOf = (name: string, value: string): number =>
    addressVariables.has(name) || isAddressVariable(name, value) ? 0 : isSecretName(name) ? 1 : 2
  const all = [...variables].map(([name, { value }]) => ({ name, value, rank: rankOf(name, value) })).toSorted((a, b) => a.rank - b.rank)
  const addresses = all.filter(({ rank }) => rank === 0)
  const names = firstNames(
    all.map(({ name }) => name),
    ', ',
  )
  return [
    {
      name: `variables ${names.text}`,
      contents: addresses.map(({ name, value }) => `${name}=${redactAddress(value)}`),
      ...(names.left > 0 && { isPartial: true }),
    },
  ]
}

const addressName = /(?:^|_)(?:(?:BASE)?URL|HOST|HOSTNAME|ENDPOINT|BASE|ADDRESS|DOMAIN|PROXY|PORT)$/i
const isAddressVariable = (name: string, value: string): boolean => addressName.test(name) || parseHttpAddress(value) !== undefined

const maxNamed = 20

/** The first names of a list and the number of the others: a hostile file could have thousands. */
export function firstNames(names: readonly string[], separator: string): { readonly text: string; readonly left: number } {
  const left = Math.max(0, names.length - maxNamed)
  return { text: [...names.slice(0, maxNamed), ...(left > 0 ? [`${left} more`] : [])].join(separator), left }
}
