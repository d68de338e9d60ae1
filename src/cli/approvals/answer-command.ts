import { shellWord } from '../../util/shell-word.ts'

/** The command that answers a request, or the only one of a run, without going on with the run. */
export const answerCommand = (id: string, dataDir: string | undefined): string => `troupe approvals answer ${id} yes${dataDirFlag(dataDir)}`

export const dataDirFlag = (dataDir: string | undefined): string => (dataDir === undefined ? '' : ` --data-dir ${shellWord(dataDir)}`)
