import type { Problem } from '../../contracts/index.ts'
import type { ChildReference, LoadedFile } from './loaded-file.ts'

/** Who calls whom: `from` names `to` at `reference`. */
export interface Edge {
  readonly from: LoadedFile
  readonly to: LoadedFile
  readonly reference: ChildReference
}

/** Each way that leads back to where it began, told once, at the entry that closes it. */
export function cycleProblems(files: readonly LoadedFile[], edgesFrom: (file: LoadedFile) => readonly Edge[]): readonly Problem[] {
  const done = new Set<LoadedFile>()
  const problems: Problem[] = []
  for (const root of files) {
    // By hand: a chain of thousands of files must not exhaust the stack.
    const path: { readonly file: LoadedFile; readonly left: Edge[] }[] = []
    const enter = (file: LoadedFile): void => void path.push({ file, left: edgesFrom(file).toReversed() })
    if (!done.has(root)) enter(root)
    for (let top = path.at(-1); top; top = path.at(-1)) {
      const edge = top.left.pop()
      if (!edge) {
        done.add(top.file)
        path.pop()
        continue
      }
      const index = path.findIndex(({ file }) => file === edge.to)
      if (index !== -1)
        problems.push(
          cycleProblem(
            path.slice(index).map(({ file }) => file),
            edge,
          ),
        )
      else if (!done.has(edge.to)) enter(edge.to)
    }
  }
  return problems
}

function cycleProblem(files: readonly LoadedFile[], { to, reference }: Edge): Problem {
  const way = [...files, to].map(({ agent }) => agent.toolName).join(' → ')
  const { place, line } = reference
  return {
    place,
    message: `agents would call themselves: ${way}`,
    remedy: 'Take one of them out of `agents`.',
    ...(line !== undefined && { line }),
  }
}
