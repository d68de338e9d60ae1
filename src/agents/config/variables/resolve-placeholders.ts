/*
 * 1. A text is taken apart once, and what a variable holds is put in as it is: nothing is run, nothing is read twice.
 * 2. Only what is asked for is resolved; a variable that nobody needs can be missing.
 * 3. An empty variable is none: the next place is looked into.
 */
import { type Json, type Problem, TroupeError } from '../../../contracts/index.ts'
import type { Config, VariableFile } from '../config.ts'
import { type FileOrigin, type LayerName, type Sourced, showPath } from '../sourced.ts'
import { parsePlaceholders, placeholderRemedy, type TextPart } from './placeholders.ts'

/** The process environment, handed in by whoever may read it. */
export interface Environment {
  readonly [name: string]: string | undefined
}

export interface VariableSources {
  readonly config: Config
  readonly environment: Environment
}

const maxCharacters = 65_536
const maxCharactersTogether = 1_048_576

/** A part of the configuration: where it stands, and what. */
export interface Part {
  readonly path: readonly string[]
  readonly tree: Sourced
}

export interface UsedVariable {
  readonly name: string
  readonly value: string
  /** Who needed it. */
  readonly path: readonly string[]
}

export interface Resolved {
  /** In the order of the parts. */
  readonly values: readonly Json[]
  readonly used: readonly UsedVariable[]
}

/**
 * Puts variables in the places of placeholders: from the `.env` of the layer that has the placeholder, then the other
 * layers', strongest first, then the process environment. Throws `config_invalid` with every name that is missing.
 */
export function resolveParts(parts: readonly Part[], sources: VariableSources): Resolved {
  const resolution = new Resolution(sources)
  const values = parts.map(({ tree, path }) => resolution.tree(tree, path))
  resolution.done()
  return { values, used: resolution.used }
}

/** The variable as a layer sees it; nothing where it is missing or empty. */
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

  done(): void {
    if (this.#problems.length === 0) return
    const count = this.#problems.length === 1 ? 'a problem' : `${this.#problems.length} problems`
    throw new TroupeError('config_invalid', `The variables of the configuration have ${count}.`, { problems: this.#problems.slice(0, 25) })
  }

  #json(value: Json, path: readonly string[], origin: FileOrigin): Json {
    if (typeof value === 'string') return this.#text(value, path, origin)
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return (value as readonly Json[]).map((each, index) => this.#json(each, [...path, String(index)], origin))
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, this.#json(inner ?? null, [...path, key], origin)]))
  }

  #text(text: string, path: readonly string[], origin: FileOrigin): string {
    const tell = (message: string, remedy: string): string => {
      this.#problems.push({ place: `${origin.file}:${origin.line}:${origin.column}`, message: `\`${showPath(path)}\` ${message}`, remedy })
      return ''
    }
    const template = parsePlaceholders(text)
    if (!template.ok) return tell(`cannot be read: ${template.message}`, placeholderRemedy)
    let result = ''
    for (const part of template.parts) {
      const value = part.kind === 'literal' ? part.text : this.#variable(part, path, origin)
      if (typeof value !== 'string') return tell(`needs the variable ${value.missing}, which is not set`, value.remedy)
      const room = Math.min(maxCharacters - result.length, maxCharactersTogether - this.#length)
      if (value.length > room)
        return tell('becomes too long', `The most are ${maxCharacters} characters, and ${maxCharactersTogether} together.`)
      result += value
      this.#length += value.length
    }
    return result
  }

  #variable({ name, otherwise }: VariablePart, path: readonly string[], { layer }: FileOrigin): string | Missing {
    const value = findVariable(name, layer, this.#sources)
    if (value !== undefined) this.used.push({ name, value, path })
    return value ?? otherwise ?? { missing: name, remedy: `Set it: export ${name}=… FoundFiles into: ${this.#lookedInto(layer)}.` }
  }

  #lookedInto(layer: LayerName): string {
    return variablePlaces(this.#sources.config, layer).join(', ')
  }
}

/** Where variables are looked for, in order, and what came of it. */
export function variablePlaces(config: Config, layer?: LayerName): readonly string[] {
  const files = lookupOrder(config, layer).map(({ file: { path }, state }) => {
    if (state === 'absent') return `${path} (not there)`
    return state === 'untrusted' ? `${path} (not trusted, so not read)` : path
  })
  return [...files, 'the environment']
}

type VariablePart = Extract<TextPart, { readonly kind: 'variable' }>
interface Missing {
  readonly missing: string
  readonly remedy: string
}
