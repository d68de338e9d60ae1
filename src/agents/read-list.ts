import { isScalar, isSeq, type Node } from 'yaml'
import { ownToolsForAny } from '../policy/foreign-tools.ts'
import { isEntry, type ListEntry, listEntries } from './list-entries.ts'
import type { Fault, Read } from './read-result.ts'
import { found } from './words.ts'

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
    if (name === '') faults.push({ node: each, message: `${article(of)} ${of} must be a name, not ${found(each)}`, remedy })
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
