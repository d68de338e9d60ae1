// 1. A text is parsed once; placeholders in the value of a variable are not resolved.
// 2. Only requested parts are resolved, so variables of other parts can be missing.
// 3. An empty variable is treated as missing: the next source is used.
import { type Json, type Problem, TroupeError } from '../../../contracts/index.ts'
import { parsePlaceholders, placeholderRemedy, type TextPart } from '../../../policy/placeholders.ts'
import { plural } from '../../../util/plural.ts'
import { maxReported } from '../../../yaml/source-text.ts'
import type { Config, VariableFile } from '../config.ts'
import { type FileOrigin, type LayerName, placeOf, type Sourced, showPath } from '../sourced.ts'

/** The process environment. Only the command line reads it. */
export interface Environment {
  readonly [name: string]: string | undefined
}

export interface VariableSources {
  readonly config: Config
  readonly environment: Environment
}

const maxCharacters = 65_536
const maxCharactersTogether = 1_048_576

/** A part of the configuration and its path. */
export interface Part {
  readonly path: readonly string[]
  readonly tree: Sourced
}

export interface UsedVariable {
  readonly name: string
  readonly value: string
  /** The setting that uses it. */
  readonly path: readonly string[]
}

interface Resolved {
  /** In the order of the parts. */
  readonly values: readonly Json[]
  readonly used: readonly UsedVariable[]
}

/** Uses the `.env` of the own layer, then of the others, then the environment. Throws `config_invalid` with all missing names. */
export function resolveParts(parts: readonly Part[], sources: VariableSources): Resolved {
  const resolution = new Resolution(sources)
  const values = parts.map(({ tree, path }) => resolution.tree(tree, path))
  resolution.throwIfProblems()
  return { values, used: resolution.used }
}

/** The values of the variables in a value and those that are not set. `layer`: of the file that uses them. */
export function variablesIn(
  value: Json,
  layer: LayerName,
  sources: VariableSources,
): { readonly values: { readonly [name: string]: string }; readonly missing: readonly string[] } {
  const values: Record<string, string> = {}
  const missing = new Set<string>()
  const visit = (each: Json | undefined): void => {
    if (typeof each === 'object' && each !== null) for (const inner of Object.values(each)) visit(inner)
    const parsed = typeof each === 'string' ? parsePlaceholders(each) : undefined
    for (const part of parsed?.ok ? parsed.parts : []) {
      if (part.kind !== 'variable') continue
      const found = findVariable(part.name, layer, sources)
      if (found !== undefined) values[part.name] = found
      else if (part.fallback === undefined) missing.add(part.name)
    }
  }
  visit(value)
  return { values, missing: [...missing] }
}

function findVariable(name: string, layer: LayerName | undefined, { config, environment }: VariableSources): string | undefined {
  for (const { values } of lookupOrder(config, layer)) {
    const value = values.get(name)?.value
    if (value !== undefined && value !== '') return value
  }
  const value = Object.hasOwn(environment, name) ? environment[name] : undefined
  return value === '' ? undefined : value
}

function lookupOrder({ layers }: Config, layer: LayerName | undefined): readonly VariableFile[] {
  const own = layers.filter(({ name }) => name === layer)
  return [...own, ...layers.filter(({ name }) => name !== layer)].flatMap(({ variables }) => variables)
}

class Resolution {
  readonly used: UsedVariable[] = []
  readonly #sources: VariableSources
  readonly #problems: Problem[] = []
  #length = 0

  constructor(sources: VariableSources) {
    this.#sources = sources
  }

  tree(tree: Sourced, path: readonly string[]): Json {
    if (tree.kind === 'value') return this.#json(tree.value, path, tree.origin)
    return Object.fromEntries([...tree.entries].map(([key, inner]) => [key, this.tree(inner, [...path, key])]))
  }

  throwIfProblems(): void {
    if (this.#problems.length === 0) return
    throw new TroupeError('config_invalid', `The variables of the configuration have ${plural(this.#problems.length, 'problem')}.`, {
      problems: this.#problems.slice(0, maxReported),
    })
  }

  #json(value: Json, path: readonly string[], origin: FileOrigin): Json {
    if (typeof value === 'string') return this.#text(value, path, origin)
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return (value as readonly Json[]).map((each, index) => this.#json(each, [...path, String(index)], origin))
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, this.#json(inner ?? null, [...path, key], origin)]))
  }

  #text(text: string, path: readonly string[], origin: FileOrigin): string {
    const report = (message: string, remedy: string): string => {
      this.#problems.push({ place: placeOf(origin), message: `\`${showPath(path)}\` ${message}`, remedy })
      return ''
    }
    const parsed = parsePlaceholders(text)
    if (!parsed.ok) return report(`cannot be read: ${parsed.message}`, placeholderRemedy)
    let result = ''
    for (const part of parsed.parts) {
      const value = part.kind === 'literal' ? part.text : this.#variable(part, path, origin)
      if (typeof value !== 'string') return report(`needs the variable ${value.missing}, which is not set`, value.remedy)
      const room = Math.min(maxCharacters - result.length, maxCharactersTogether - this.#length)
      if (value.length > room)
        return report('becomes too long', `Use at most ${maxCharacters} characters, and ${maxCharactersTogether} in all values together.`)
      result += value
      this.#length += value.length
    }
    return result
  }

  #variable({ name, fallback }: VariablePart, path: readonly string[], { layer }: FileOrigin): string | Missing {
    const value = findVariable(name, layer, this.#sources)
    if (value !== undefined) this.used.push({ name, value, path })
    const places = variablePlaces(this.#sources.config, layer).join(', ')
    return value ?? fallback ?? { missing: name, remedy: `Set it: export ${name}=… Searched: ${places}.` }
  }
}

/** The sources of variables in the order of search, for messages. */
export function variablePlaces(config: Config, layer?: LayerName): readonly string[] {
  const files = lookupOrder(config, layer).map(({ file: { path }, state }) => {
    if (state === 'absent') return `${path} (does not exist)`
    return state === 'untrusted' ? `${path} (not trusted)` : path
  })
  return [...files, 'the environment']
}

type VariablePart = Extract<TextPart, { readonly kind: 'variable' }>
interface Missing {
  readonly missing: string
  readonly remedy: string
}
