import type { ApprovalRequest, Question, Store, TreeId } from '../../../contracts/index.ts'
import { dataDirFlag } from '../../../project/index.ts'
import { readPendingApprovals } from '../../../runtime/index.ts'

/** What the user can do about a suspended run, as text and as commands to copy, in their order. */
export interface NextSteps {
  readonly remedy: string
  readonly commands: readonly string[]
}

export interface Suspended {
  readonly treeId: TreeId
  readonly resume: string
  readonly dataDir: string | undefined
}

/** With more requests, the list of requests is named instead. */
const maxCommands = 5

export async function nextSteps(store: Pick<Store, 'journal' | 'inbox'>, { treeId, resume, dataDir }: Suspended): Promise<NextSteps> {
  const { open } = await readPendingApprovals(store, treeId)
  const requests = open.filter(({ answer }) => !answer).map(({ request }) => request)
  const [only, ...others] = requests
  const atTerminal = 'then resume the run. At a terminal, you can resume first and answer when asked.'
  if (!only) return { remedy: 'All requests are answered: resume the run.', commands: [resume] }
  if (others.length === 0) return { remedy: `Answer the request, ${atTerminal}`, commands: [answerCommand(treeId, only, dataDir), resume] }
  if (requests.length > maxCommands)
    return {
      remedy: `Answer all ${requests.length} requests, ${atTerminal}`,
      commands: [`troupe approvals list${dataDirFlag(dataDir)}`, resume],
    }
  const answers = requests.map((request) => answerCommand(request.id, request, dataDir))
  return { remedy: `Answer these ${requests.length} requests, ${atTerminal}`, commands: [...answers, resume] }
}

/** `id` is the request, or the session if it has one request. */
export const answerCommand = (id: string, asked: Pick<ApprovalRequest, 'question'> | undefined, dataDir: string | undefined): string =>
  `troupe approvals answer ${id} ${answerWords(asked?.question)}${dataDirFlag(dataDir)}`

const answerWords = (question: Question | undefined): string =>
  question?.form ? `--content '{…}'` : question && question.url === undefined ? 'ANSWER' : 'yes'
