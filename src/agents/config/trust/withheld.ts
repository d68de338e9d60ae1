import type { Json, JsonObject } from '../../../contracts/index.ts'
import { parseHttpAddress } from '../../../util/read-address.ts'
import { shellWord } from '../../../util/shell-word.ts'
import type { EnvVariable } from '../files/env-file.ts'
import { isSecretName, redactAddress, redactForTrust } from '../hide-secrets.ts'

/** A part of a file that does not count until a person trusts it. */
export interface Withheld {
  /** By path: `providers`, `approvals.rules, the one that allows something`. */
  readonly name: string
  /** What it says, an entry for each thing: a program with its arguments, an address, a rule. Without what lets somebody in. */
  readonly contents: readonly string[]
  /** Its name leaves something out. */
  readonly isPartial?: true
}

/** `value` is what stands at `path`, or what of it waits. */
export function withheldPart(name: string, value: Json, path: readonly string[]): Withheld {
  return { name, contents: contentsOf(redactForTrust(value, path), path) }
}

function contentsOf(value: Json, path: readonly string[]): readonly string[] {
  if (Array.isArray(value)) return (value as readonly Json[]).map((each) => (path[0] === 'hooks' ? hookText(each) : textOf(each)))
  if (!isObject(value)) return [textOf(value)]
  return Object.entries(value).map(
    ([key, inner]) => `${key}: ${path[0] === 'mcpServers' ? serverText(inner ?? null) : textOf(inner ?? null)}`,
  )
}

const isObject = (value: Json): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)

/** `allow shell(npm test)`, `baseURL https://lab.example/v1, apiKey ${LAB_KEY}`. */
function textOf(value: Json): string {
  if (Array.isArray(value)) return (value as readonly Json[]).map(textOf).join(', ')
  if (!isObject(value)) return String(value)
  return Object.entries(value)
    .map(([key, inner]) => `${key} ${textOf(inner ?? null)}`)
    .join(', ')
}

/** `guard: ./guard.sh --strict, at before_call of shell`. */
function hookText(hook: Json): string {
  if (!isObject(hook)) return textOf(hook)
  const { name = '', command, module, on = [], tools } = hook
  const runs = command === undefined ? `module ${textOf(module ?? '')}` : commandLine(command)
  return `${textOf(name)}: ${runs}, at ${textOf(on)}${tools === undefined ? '' : ` of ${textOf(tools)}`}`
}

/** A program is shown as it would be typed; the rest of a server as it is written. */
function serverText(server: Json): string {
  if (!isObject(server) || typeof server.command !== 'string') return textOf(server)
  const { command, args = [], ...rest } = server
  const more = textOf(rest)
  return `${commandLine([command, ...(Array.isArray(args) ? args : [args])])}${more === '' ? '' : `, ${more}`}`
}

const commandLine = (words: Json): string =>
  Array.isArray(words) ? words.map((word: Json) => shellWord(textOf(word))).join(' ') : textOf(words)

/**
 * The variables of a file that wait for trust: by name, those first that decide where keys are sent, with what they say,
 * then keys, then all others. `addressVariables` are those that addresses and paths in the settings are made of.
 */
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

/** The first names of a list, and how many are left: a hostile file could have thousands. */
export function firstNames(names: readonly string[], separator: string): { readonly text: string; readonly left: number } {
  const left = Math.max(0, names.length - maxNamed)
  return { text: [...names.slice(0, maxNamed), ...(left > 0 ? [`${left} more`] : [])].join(separator), left }
}
