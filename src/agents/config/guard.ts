import { resolve } from 'node:path'
import { isInside } from '../../util/is-inside.ts'
import { withoutLoosening } from './loosening.ts'
import { showPath } from './origin.ts'
import { choosesModels, overruling } from './overruling.ts'
import { folderOf } from './places.ts'
import { sectionNames, sectionOf } from './sections.ts'
import { type Leaf, plainSourced, pruned, type Sourced, type SourcedMap, someText } from './sourced.ts'
import { isTemplate } from './template.ts'
import { type Withheld, withheldPart } from './withheld.ts'

export interface Admitted {
  readonly tree: SourcedMap
  /** What is kept out until a person trusts the file. */
  readonly withheld: readonly Withheld[]
}

/** What of a project's file counts before anybody has trusted it, beside what a person says in weaker files of their own. */
export function withoutGuarded(tree: SourcedMap, own?: Sourced): Admitted {
  const withheld: Withheld[] = []
  const entries = new Map<string, Sourced>()
  for (const name of sectionNames) {
    const section = tree.entries.get(name)
    if (!section) continue
    if (sectionOf(name).trust === 'needed') {
      withheld.push(withheldPart(name, plainSourced(section), [name]))
      continue
    }
    if (sectionOf(name).trust === 'to-loosen') {
      const strict = withoutLoosening(section, name)
      withheld.push(...strict.withheld)
      if (strict.kept) entries.set(name, strict.kept)
      continue
    }
    const kept = pruned(
      section,
      (leaf) => {
        const why = leavesFolder(leaf) ? 'which leave the folder' : overruling(leaf, own)
        const isKept = !isGuarded(leaf) && why === undefined
        const shown = showPath(leaf.path)
        if (!isKept) withheld.push(withheldPart(why === undefined ? shown : `${shown}, ${why}`, leaf.value, leaf.path))
        return isKept
      },
      [name],
    )
    if (kept) entries.set(name, kept)
  }
  return { tree: { ...tree, entries }, withheld }
}

/**
 * In the sections that count without trust: whatever would read a variable, since a model's name goes to its provider; and
 * a model that plays its calls from a file, since it would drive the tools of agents that are not the project's.
 */
function isGuarded({ path, value }: Leaf): boolean {
  return someText(value, (text) => isTemplate(text) || (choosesModels(path) && /^\s*(?:script|replay)\//i.test(text)))
}

/** Agents are looked for in the folder that says so: somebody who cloned it has not agreed to a search of the disk. */
function leavesFolder({ path, value, origin }: Leaf): boolean {
  const folder = folderOf(origin)
  return path[0] === 'agents' && someText(value, (text) => !isInside(folder, resolve(folder, text)))
}
