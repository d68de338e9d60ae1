import { isAbsolute, relative } from 'node:path'
import type { RunFlag, RunOrigin } from '../../contracts/index.ts'
import { flagWords } from '../commands/resume-command.ts'
import { typedWord } from '../options/typed-word.ts'
import { withoutKept } from '../run/stored-settings.ts'
import { dataDirFlag } from './answer-hint.ts'
import type { WaitingSession } from './waiting-requests.ts'

/** Where the commands that are shown will be typed. */
export interface Place {
  readonly here: string
  readonly folder: string
  readonly dataDir: string | undefined
}

/** Goes on with the run in the folder that it works in, under the terms that it was started with; one that has ended needs a prompt.
 * Models and limits are in its journal. */
export function resumeHint({ run, origin }: Pick<WaitingSession, 'run' | 'origin'>, { here, folder, dataDir }: Place): string {
  const file = origin?.agentFile === undefined ? 'FILE' : typedWord(fileOf(origin))
  const isHere = origin === undefined || origin.workspace === here
  const data = dataDirFlag(isHere || dataDir === undefined ? dataDir : folder)
  const words = flagWords(origin ? flagsThere(origin) : []).map((word) => ` ${word}`)
  const prompt = run.status === 'suspended' || run.status === 'running' ? '' : ' "…"'
  const command = `troupe run ${file}${prompt} --resume ${run.treeId}${data}${words.join('')}`
  return isHere ? command : `cd ${typedWord(origin.workspace)} && ${command}`
}

/** The file of its agent, relative to the folder of the run where it is in it. */
export const fileOf = ({ workspace, agentFile }: RunOrigin): string =>
  agentFile === undefined ? 'a program' : pathIn(workspace, agentFile)

const flagsThere = ({ workspace, flags = [] }: RunOrigin): readonly RunFlag[] =>
  withoutKept(flags).map(({ name, value }) => ({ name, value: name === 'config' ? pathIn(workspace, value) : value }))

function pathIn(workspace: string, file: string): string {
  const path = relative(workspace, file)
  return path.startsWith('..') || isAbsolute(path) ? file : path
}
