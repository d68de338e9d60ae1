import type { Problem } from '../../contracts/index.ts'
import { decodeComponent } from '../decode-component.ts'
import { nearestNames } from '../nearest-names.ts'
import { showValue } from '../show-value.ts'
import { isPlainObject, type SchemaObject } from './schema-values.ts'

interface Reference {
  readonly place: string
  readonly text: string
  readonly from: SchemaObject
  readonly resource: SchemaObject
}

type Found = { readonly schema: SchemaObject | boolean; readonly resource: SchemaObject } | 'remote' | 'missing'

const maxProblems = 20
const maxComparedNames = 300

/**
 * The references of one schema and their targets.
 *
 * 1. Every visited schema is added once before `problems` is called.
 * 2. `nextUnseen` returns each target that was not visited, once.
 */
export class References {
  readonly #seen = new Set<SchemaObject>()
  readonly #references: Reference[] = []
  readonly #resources = new Map<string, SchemaObject>()
  readonly #anchors = new Map<SchemaObject, Map<string, SchemaObject>>()
  readonly #root: SchemaObject
  #next = 0

  constructor(root: SchemaObject) {
    this.#root = root
  }

  meet(schema: SchemaObject, { place, resource }: { readonly place: string; readonly resource: SchemaObject }): void {
    this.#seen.add(schema)
    if (typeof schema.$id === 'string') this.#resources.set(schema.$id.replace(/#$/, ''), schema)
    for (const keyword of ['$anchor', '$dynamicAnchor']) {
      const name = schema[keyword]
      if (typeof name !== 'string') continue
      const names = this.#anchors.get(resource) ?? new Map<string, SchemaObject>()
      this.#anchors.set(resource, names.set(name, schema))
    }
    for (const keyword of ['$ref', '$dynamicRef']) {
      const text = schema[keyword]
      if (typeof text === 'string') this.#references.push({ place: `${place}/${keyword}`, text, from: schema, resource })
    }
  }

  nextUnseen(): { readonly schema: SchemaObject; readonly resource: SchemaObject; readonly pointer: string } | undefined {
    while (this.#next < this.#references.length) {
      const reference = this.#references[this.#next++]
      const found = reference && this.#find(reference)
      if (reference === undefined || typeof found !== 'object' || typeof found.schema === 'boolean' || this.#seen.has(found.schema))
        continue
      return { schema: found.schema, resource: found.resource, pointer: reference.text.replace(/^[^#]*#\/?/, '') }
    }
    return undefined
  }

  /** Every schema that was added. */
  get met(): Iterable<SchemaObject> {
    return this.#seen
  }

  targets(): ReadonlyMap<SchemaObject, readonly SchemaObject[]> {
    const targets = new Map<SchemaObject, SchemaObject[]>()
    for (const reference of this.#references) {
      const found = this.#find(reference)
      if (typeof found !== 'object' || typeof found.schema === 'boolean') continue
      targets.set(reference.from, [...(targets.get(reference.from) ?? []), found.schema])
    }
    return targets
  }

  problems(): readonly Problem[] {
    const problems: Problem[] = []
    for (const reference of this.#references) {
      const problem = this.#problem(reference)
      if (problem) problems.push(problem)
      if (problems.length === maxProblems) break
    }
    return problems
  }

  #problem(reference: Reference): Problem | undefined {
    const { place, text } = reference
    const found = this.#find(reference)
    if (found === 'remote') {
      return {
        place,
        message: `expected a reference inside this schema, found ${showValue(text)}`,
        remedy: 'copy that schema to "$defs" and refer to it as "#/$defs/name"',
      }
    }
    if (found === 'missing') {
      const [near] = nearestNames(text.replace(/^.*[/#]/, ''), this.#definitions().slice(0, maxComparedNames), 1)
      const message = `expected a reference to a schema, found ${showValue(text)}, which does not exist`
      return near === undefined ? { place, message } : { place, message, remedy: `did you mean "${near}"?` }
    }
    if (this.#isCircle(reference)) return { place, message: `${showValue(text)} only refers to itself` }
    return undefined
  }

  #find({ text, resource: around }: Reference): Found {
    const hash = text.indexOf('#')
    const base = hash < 0 ? text : text.slice(0, hash)
    const resource = base === '' ? around : this.#resources.get(base)
    if (resource === undefined) return 'remote'
    const fragment = hash < 0 ? '' : text.slice(hash + 1)
    const schema =
      fragment === '' || fragment.startsWith('/') ? resolvePointer(resource, fragment) : this.#anchors.get(resource)?.get(fragment)
    return typeof schema === 'boolean' || isPlainObject(schema) ? { schema, resource } : 'missing'
  }

  /** Schemas that only refer to each other in a cycle. */
  #isCircle(start: Reference): boolean {
    const passed = new Set<object>()
    let at: Reference | undefined = start
    while (at !== undefined) {
      const found = this.#find(at)
      if (typeof found !== 'object' || typeof found.schema === 'boolean' || passed.has(found.schema)) return false
      if (found.schema === start.from) return true
      passed.add(found.schema)
      const { schema, resource } = found
      at = typeof schema.$ref === 'string' ? { place: '', text: schema.$ref, from: schema, resource } : undefined
    }
    return false
  }

  #definitions(): readonly string[] {
    const { $defs, definitions } = this.#root
    return [
      ...(isPlainObject($defs) ? Object.keys($defs).map((name) => `#/$defs/${name}`) : []),
      ...(isPlainObject(definitions) ? Object.keys(definitions).map((name) => `#/definitions/${name}`) : []),
    ]
  }
}

/** The target of a JSON Pointer. */
export function resolvePointer(root: SchemaObject, pointer: string): unknown {
  let at: unknown = root
  for (const part of pointer.split('/').slice(1)) {
    const key = decodeComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined
    at = (at as SchemaObject)[key]
  }
  return at
}
