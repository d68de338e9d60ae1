import type { Store, TreeId } from '../../contracts/index.ts'
import { readPendingApprovals } from '../../runtime/index.ts'
import { answerCommand, dataDirFlag } from './answer-hint.ts'

/** What a person may do about a run that waits: in words, and as commands to copy, in their order. */
export interface NextSteps {
  readonly remedy: string
  readonly commands: readonly string[]
}

export interface Suspended {
  readonly treeId: TreeId
  /** The command that goes on with it. */
  readonly resume: string
  readonly dataDir: string | undefined
}

/** More than these are looked at before they are answered. */
const mostCommands = 5

export async function nextSteps(store: Pick<Store, 'journal' | 'inbox'>, { treeId, resume, dataDir }: Suspended): Promise<NextSteps> {
  const { open } = await readPendingApprovals(store, treeId)
  const requests = open.filter(({ answer }) => !answer).map(({ request }) => request)
  const [only, ...others] = requests
  const atTerminal = 'then resume it. At a terminal you can resume it now and answer there.'
  if (!only) return { remedy: 'All requests are answered: resume it.', commands: [resume] }
  if (others.length === 0) return { remedy: `Answer it, ${atTerminal}`, commands: [answerCommand(treeId, only, dataDir), resume] }
  if (requests.length > mostCommands)
    return { remedy: `Answer all ${requests.length}, ${atTerminal}`, commands: [`troupe approvals list${dataDirFlag(dataDir)}`, resume] }
  const answers = requests.map((request) => answerCommand(request.id, request, dataDir))
  return { remedy: `Answer each of these ${requests.length}, ${atTerminal}`, commands: [...answers, resume] }
}
