import type { Problem } from '../../contracts/index.ts'
import { findCycles } from '../../util/find-cycles.ts'
import type { ChildReference, LoadedFile } from './loaded-file.ts'

/** Who calls whom: `from` names `to` at `reference`. */
export interface Edge {
  readonly from: LoadedFile
  readonly to: LoadedFile
  readonly reference: ChildReference
}

/** Each way that leads back to where it began, told once, at the entry that closes it. */
export function cycleProblems(files: readonly LoadedFile[], edgesFrom: (file: LoadedFile) => readonly Edge[]): readonly Problem[] {
  return findCycles(files, edgesFrom).map(({ nodes, closing }) => cycleProblem(nodes, closing))
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
