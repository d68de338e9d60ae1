import { resolvePointer } from '../../util/json-schema/schema-references.ts'
import { isPlainObject, type SchemaObject } from '../../util/json-schema/schema-values.ts'
import type { SchemaDraft } from './schema-drafts.ts'

/** Without an `$id`, a schema has this address. */
const unnamed = 'schema:/'
/** References that lead to references only. */
const maxChain = 50

/** The targets of the references in a schema. Addresses are URLs, relative to the nearest `$id`. */
export class SchemaAddresses {
  readonly #byAddress = new Map<string, SchemaObject>()
  readonly #bases = new Map<object, string>()
  readonly #draft: SchemaDraft

  constructor(root: SchemaObject, draft: SchemaDraft) {
    this.#draft = draft
    this.#byAddress.set(unnamed, root)
    const waiting: (readonly [node: unknown, base: string])[] = [[root, unnamed]]
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const [node, outer] = next
      if (typeof node !== 'object' || node === null) continue
      const base = isPlainObject(node) ? this.#add(node, outer) : outer
      for (const each of Object.values(node)) waiting.push([each, base])
    }
  }

  /** Whether a schema inside of another one has an address of its own. */
  get hasParts(): boolean {
    return new Set(this.#bases.values()).size > 1
  }

  /** `undefined` if there is none, or if it refers to others without an end. */
  find(reference: string, from: SchemaObject): SchemaObject | undefined {
    const target = this.#target(reference, from)
    let at = target
    for (let passed = 0; passed < maxChain; passed++) {
      if (typeof at?.$ref !== 'string') return at && target
      at = this.#target(at.$ref, at)
    }
    return undefined
  }

  #add(node: SchemaObject, outer: string): string {
    const id = this.#draft === 4 ? node.id : node.$id
    const hasId = typeof id === 'string' && !(this.#draft < 2019 && typeof node.$ref === 'string')
    const own = hasId ? URL.parse(id, outer) : null
    // Before 2019-09, an id that is only a fragment is an anchor.
    const anchors = [node.$anchor, node.$dynamicAnchor, own?.hash.slice(1)]
    if (own) own.hash = ''
    const base = own?.href ?? outer
    this.#bases.set(node, base)
    if (base !== outer) this.#byAddress.set(base, node)
    for (const anchor of anchors) {
      const address = typeof anchor === 'string' && anchor !== '' ? URL.parse(`#${anchor}`, base) : null
      if (address) this.#byAddress.set(address.href, node)
    }
    return base
  }

  #target(reference: string, from: SchemaObject): SchemaObject | undefined {
    const url = URL.parse(reference, this.#bases.get(from))
    if (!url) return undefined
    const { href, hash } = url
    url.hash = ''
    const resource = this.#byAddress.get(url.href)
    const target = hash.startsWith('#/')
      ? resource && resolvePointer(resource, hash.slice(1))
      : this.#byAddress.get(hash === '' ? url.href : href)
    return isPlainObject(target) ? target : undefined
  }
}
