import { resolve } from 'node:path'
import { isInside } from '../../util/is-inside.ts'
import { withoutLoosening } from './loosening.ts'
import { showPath } from './origin.ts'
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

/** What of a project's file counts before anybody has trusted it. */
export function withoutGuarded(tree: SourcedMap): Admitted {
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
        const isKept = !isGuarded(leaf) && !leavesFolder(leaf)
        const shown = leavesFolder(leaf) ? `${showPath(leaf.path)}, which leave the folder` : showPath(leaf.path)
        if (!isKept) withheld.push(withheldPart(shown, leaf.value, leaf.path))
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
  const choosesModels = path[0] === 'models' || (path[0] === 'defaults' && path[1] === 'models')
  return someText(value, (text) => isTemplate(text) || (choosesModels && /^\s*(?:script|replay)\//i.test(text)))
}

/** Agents are looked for in the folder that says so: somebody who cloned it has not agreed to a search of the disk. */
function leavesFolder({ path, value, origin }: Leaf): boolean {
  const folder = folderOf(origin)
  return path[0] === 'agents' && someText(value, (text) => !isInside(folder, resolve(folder, text)))
}
