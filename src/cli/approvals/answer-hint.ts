import type { ApprovalRequest } from '../../contracts/index.ts'
import { typedWord } from '../options/typed-word.ts'

/** The command that answers a request, or the only one of a run, without going on with the run. A question wants more than a yes. */
export const answerCommand = (id: string, asked: Pick<ApprovalRequest, 'question'> | undefined, dataDir: string | undefined): string =>
  `troupe approvals answer ${id} ${asked?.question ? 'ANSWER' : 'yes'}${dataDirFlag(dataDir)}`

export const dataDirFlag = (dataDir: string | undefined): string => (dataDir === undefined ? '' : ` --data-dir ${typedWord(dataDir)}`)
