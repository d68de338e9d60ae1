// What may stand in the lists of options. Reading and the JSON Schema are made from it.
import { isScalar, isSeq, type Node } from 'yaml'
import { ownToolsForAny } from '../../policy/foreign-tools.ts'
import { describeNode } from './messages.ts'
import type { Fault, Read } from './yaml-nodes.ts'

/** `named`: what an entry of the list is. */
export type ListEntry = 'model' | 'tool' | 'agent' | 'skill' | 'host' | 'folder' | 'variable'

export interface EntrySpec {
  readonly may: 'be empty' | 'not be empty'
  /** The whole of an entry, without the spaces around it; a regular expression. */
  readonly pattern: string
  /** What is wrong with an entry that does not fit. */
  fault(written: string): string
  /** How it is written instead, where an example would not tell. */
  readonly remedy?: string
}

const label = '[A-Za-z0-9_](?:[\\w-]*\\w)?'
/** An address with colons: at least two of them. */
const version6 = '[\\da-fA-F]*:[\\da-fA-F]*:[\\da-fA-F:.]*'

export const listEntries: { readonly [Entry in ListEntry]: EntrySpec } = {
  model: {
    may: 'not be empty',
    pattern: '\\S+',
    fault: (name) => `the name of a model has no spaces: \`${name}\``,
  },
  // `tool`, `ext.tool`, `server/tool`, `server/*`, `prefix*`, `*`.
  tool: {
    may: 'be empty',
    pattern: '\\*|[\\w.-]+\\*?|[\\w.-]+/(?:\\*|[\\w.-]+\\*?)',
    fault: (name) => `\`${name}\` is neither a tool nor a pattern`,
  },
  agent: {
    may: 'be empty',
    pattern: '[^\\n\\0]+',
    fault: () => 'the name of an agent is one line',
  },
  skill: {
    may: 'be empty',
    pattern: '\\*|[a-z0-9]+(?:-[a-z0-9]+)*-?\\*?',
    fault: (name) => `\`${name}\` is neither a skill nor a pattern`,
    remedy: 'The name of a skill has small letters and digits, with single hyphens between them; a `*` at its end stands for any.',
  },
  host: {
    may: 'be empty',
    pattern: `(?:\\*\\.)?${label}(?:\\.${label})*|${version6}|\\[(?:${version6})\\]`,
    fault: (name) => `\`${name}\` is no host`,
    remedy: 'Write the name alone, like `example.com`, or `*.example.com` for all below it: no address with `https:`, no port, no path.',
  },
  folder: {
    may: 'be empty',
    pattern: '[^\\n\\0]+',
    fault: () => 'the path of a folder is one line',
  },
  variable: {
    may: 'be empty',
    pattern: '[A-Za-z_][A-Za-z0-9_]*',
    fault: (name) => `\`${name}\` is no name of a variable`,
    remedy: 'Name the variable, like `LANG`; what it holds is set elsewhere.',
  },
}

export const isEntry = (entry: ListEntry, written: string): boolean => patterns[entry].test(written)

const patterns = Object.fromEntries(Object.entries(listEntries).map(([entry, { pattern }]) => [entry, new RegExp(`^(?:${pattern})$`)])) as {
  readonly [Entry in ListEntry]: RegExp
}

interface ListSpec {
  readonly key: string
  readonly of: ListEntry
  readonly example: string
}

/** One entry, or a list of them. */
export function readList(node: Node | null, { key, of, example }: ListSpec): Read {
  const { may, fault, remedy: ownRemedy } = listEntries[of]
  const remedy = `Write it like \`${key}: ${example}\`.`
  const nodes = isSeq<Node>(node) ? node.items : [node]
  if (nodes.length === 0 && may === 'not be empty') return { ok: false, faults: [{ node, message: `\`${key}\` is an empty list`, remedy }] }
  const faults: Fault[] = []
  const names: string[] = []
  for (const each of nodes) {
    const name = isScalar(each) && typeof each.value === 'string' ? each.value.trim() : ''
    if (name === '') faults.push({ node: each, message: `${article(of)} ${of} must be a name, not ${describeNode(each)}`, remedy })
    else if (!isEntry(of, name) && name.includes(',') && !isSeq(node))
      faults.push({
        node: each,
        message: `\`${key}\` is one text, not a list`,
        remedy: `Write \`${key}: [${namesIn(name, of).join(', ')}]\`.`,
      })
    else if (!isEntry(of, name)) faults.push({ node: each, message: fault(name), remedy: ownRemedy ?? remedy })
    else if (names.includes(name))
      faults.push({ node: each, message: `the ${of} \`${name}\` is named twice`, remedy: 'Leave one of them out.' })
    else names.push(name)
  }
  return faults.length > 0 ? { ok: false, faults } : { ok: true, value: names }
}

/** The names of a text with commas; those of other programs for tools become ours. */
function namesIn(written: string, of: ListEntry): readonly string[] {
  const names = written.split(',').flatMap((each) => (each.trim() === '' ? [] : [each.trim()]))
  return of === 'tool' ? [...new Set(names.flatMap((name) => ownToolsForAny(name, 'granted') ?? [name]))] : names
}

const article = (noun: string): string => (/^[aeiou]/.test(noun) ? 'an' : 'a')
