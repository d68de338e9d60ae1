import type { ExtensionProblem } from '../../contracts/index.ts'
import { findCycles } from '../../util/find-cycles.ts'
import { knownNames } from '../../util/nearest-names.ts'

export interface OrderedExtension {
  readonly id: string
  readonly dependsOn: readonly string[]
  readonly usesTools: readonly string[]
}

export interface LoadOrder {
  /** Dependencies before their dependents. Only those without problems. */
  readonly order: readonly string[]
  readonly problems: ReadonlyMap<string, readonly ExtensionProblem[]>
}

/** `known`: the ids of all extensions that were found, including broken ones. */
export function orderExtensions(extensions: readonly OrderedExtension[], known: readonly string[]): LoadOrder {
  const problems = new Map<string, ExtensionProblem[]>()
  const report = (id: string, problem: ExtensionProblem): void => void problems.set(id, [...(problems.get(id) ?? []), problem])
  const byId = new Map(extensions.map((each) => [each.id, each]))
  const neededBy = (id: string): readonly string[] => {
    const extension = byId.get(id)
    return extension ? [...new Set([...extension.dependsOn, ...extension.usesTools])] : []
  }
  for (const { id, dependsOn, usesTools } of extensions)
    for (const [key, ids] of [
      ['depends_on', dependsOn],
      ['agent.uses_tools', usesTools],
    ] as const)
      for (const missing of ids.filter((each) => !known.includes(each)))
        report(id, {
          place: `${id}: ${key}`,
          message: `the extension \`${missing}\` does not exist`,
          remedy: knownNames(missing, known, 'extension'),
        })
  for (const { nodes } of findCycles(byId.keys(), (id) => neededBy(id).map((to) => ({ to }))))
    for (const id of nodes) {
      const start = nodes.indexOf(id)
      const path = [...nodes.slice(start), ...nodes.slice(0, start), id].join(' → ')
      report(id, {
        place: id,
        message: `the dependencies form a cycle: ${path}`,
        remedy: 'Remove one of them from `depends_on` or `uses_tools`.',
      })
    }
  return {
    order: sorted(
      [...byId.keys()].filter((id) => !problems.has(id)),
      neededBy,
    ),
    problems,
  }
}

/** The graph has no cycle. Not recursive: a long chain must not exhaust the stack. */
function sorted(ids: readonly string[], neededBy: (id: string) => readonly string[]): readonly string[] {
  const wanted = new Set(ids)
  const done = new Set<string>()
  for (const root of ids) {
    const path = [root]
    for (let id = path.at(-1); id !== undefined; id = path.at(-1)) {
      const next = done.has(id) ? undefined : neededBy(id).find((each) => wanted.has(each) && !done.has(each))
      if (next !== undefined) path.push(next)
      else {
        done.add(id)
        path.pop()
      }
    }
  }
  return [...done]
}
