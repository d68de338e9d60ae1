import { isScalar, isSeq, type Node } from 'yaml'
import type { Fault, Read } from './read-result.ts'
import { found } from './words.ts'

type ListKind = 'names' | 'patterns' | 'references'

interface ListSpec {
  readonly key: string
  readonly kind: ListKind
  readonly example: string
}

/** What is said about one entry of each kind of list. */
const entries: {
  readonly [Kind in ListKind]: { readonly what: string; readonly may: 'be empty' | 'not be empty'; fault(name: string): string | undefined }
} = {
  names: {
    what: 'model',
    may: 'not be empty',
    fault: (name) => (/\s/.test(name) ? `the name of a model has no spaces: \`${name}\`` : undefined),
  },
  patterns: {
    what: 'tool',
    may: 'be empty',
    fault: (name) => (pattern.test(name) ? undefined : `\`${name}\` is neither a tool nor a pattern`),
  },
  references: {
    what: 'agent',
    may: 'be empty',
    fault: (name) => (/[\n\0]/.test(name) ? 'the name of an agent is one line' : undefined),
  },
}

/** `tool`, `ext.tool`, `server/tool`, `server/*`, `prefix*`, `*`. */
const pattern = /^(?:\*|[\w.-]+\*?|[\w.-]+\/(?:\*|[\w.-]+\*?))$/

/** One entry, or a list of them. */
export function readList(node: Node | null, { key, kind, example }: ListSpec): Read {
  const { what, may, fault } = entries[kind]
  const remedy = `Write it like \`${key}: ${example}\`.`
  const nodes = isSeq<Node>(node) ? node.items : [node]
  if (nodes.length === 0 && may === 'not be empty') return { ok: false, faults: [{ node, message: `\`${key}\` is an empty list`, remedy }] }
  const faults: Fault[] = []
  const names: string[] = []
  for (const each of nodes) {
    const name = isScalar(each) && typeof each.value === 'string' ? each.value.trim() : ''
    const wrong = name === '' ? `${article(what)} ${what} must be a name, not ${found(each)}` : fault(name)
    if (wrong !== undefined) faults.push({ node: each, message: wrong, remedy })
    else if (names.includes(name))
      faults.push({ node: each, message: `the ${what} \`${name}\` is named twice`, remedy: 'Leave one of them out.' })
    else names.push(name)
  }
  return faults.length > 0 ? { ok: false, faults } : { ok: true, value: names }
}

const article = (noun: string): string => (/^[aeiou]/.test(noun) ? 'an' : 'a')
