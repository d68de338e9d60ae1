import type { Json, JsonObject } from '../../contracts/index.ts'
import { isRecord } from '../../util/is-record.ts'
import type { ForeignServer } from './foreign-agent.ts'

/** Reads `{ name: config }`, or a list of names and such maps; `undefined` for anything else. */
export function readServers(value: unknown): readonly ForeignServer[] | undefined {
  const entries = Array.isArray(value) ? value.map(listedServer) : mappedServers(value)
  const servers = entries?.flatMap((entry) => entry ?? [undefined])
  return servers?.every((server) => server !== undefined) ? servers : undefined
}

function listedServer(value: unknown): readonly (ForeignServer | undefined)[] | undefined {
  return typeof value === 'string' && value.trim() !== '' ? [{ name: value.trim() }] : mappedServers(value)?.flat()
}

function mappedServers(value: unknown): readonly (readonly (ForeignServer | undefined)[])[] | undefined {
  if (!isRecord(value)) return undefined
  return Object.entries(value).map(([name, config]) =>
    isRecord(config) && name !== '' ? [{ name, config: serverConfig(config) }] : [undefined],
  )
}

function serverConfig(config: { readonly [key: string]: unknown }): JsonObject {
  const plain = toJson(config) as JsonObject
  return plain.type === 'local' ? { ...plain, type: 'stdio' } : plain
}

/** A value of YAML or TOML as JSON. Other types become text. */
export function toJson(value: unknown): Json {
  if (value === null || typeof value === 'boolean') return value
  if (typeof value === 'string') return variables(value)
  if (typeof value === 'number' && Number.isFinite(value)) return value
  if (Array.isArray(value)) return value.map((each) => toJson(each))
  if (isRecord(value)) return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, toJson(each)]))
  return String(value)
}

/** `${{ secrets.KEY }}` and `$KEY` → `${KEY}`. */
function variables(text: string): string {
  const named = text.replace(/\$\{\{\s*(?:secrets|vars|env)\.([A-Za-z_]\w*)\s*\}\}/g, (_, name: string) => `\${${name}}`)
  return named.replace(/^\$([A-Za-z_]\w*)$/, (_, name: string) => `\${${name}}`)
}

/** `a, b` or `[a, b]`; commas in brackets belong to the name: `Bash(git log, git diff)`. `undefined` for anything else. */
export function writtenNames(value: unknown): readonly string[] | undefined {
  if (typeof value === 'string') return splitNames(value)
  if (!Array.isArray(value)) return undefined
  const names = value.map((each: unknown) => (typeof each === 'string' ? each.trim() : ''))
  return names.includes('') ? undefined : names
}

function splitNames(written: string): readonly string[] {
  const names: string[] = []
  let depth = 0
  let name = ''
  for (const letter of written) {
    if (letter === '(') depth++
    if (letter === ')') depth = Math.max(0, depth - 1)
    if (letter === ',' && depth === 0) {
      names.push(name)
      name = ''
    } else name += letter
  }
  return [...names, name].map((each) => each.trim()).filter((each) => each !== '')
}
