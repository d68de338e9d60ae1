import { isAbsolute, relative } from 'node:path'
import type { ApprovalRequest, Question, RunFlag, RunOrigin, Store, TreeEntry, TreeId } from '../../contracts/index.ts'
import { readPendingApprovals } from '../../runtime/index.ts'
import { flagWords } from '../commands/resume-command.ts'
import { typedWord } from '../options/typed-word.ts'
import { flagsToRepeat } from '../run/stored-settings.ts'
import type { WaitingSession } from './waiting-requests.ts'

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

export const dataDirFlag = (dataDir: string | undefined): string => (dataDir === undefined ? '' : ` --data-dir ${typedWord(dataDir)}`)

/** Where the user will type the commands. */
export interface Place {
  readonly here: string
  readonly folder: string
  readonly dataDir: string | undefined
}

interface Resumable extends Pick<WaitingSession, 'origin'> {
  readonly run: Pick<TreeEntry, 'treeId' | 'status'>
}

/** Resumes the session in its workspace with its original flags. A server continues its own sessions. An ended session needs a prompt. Models and limits are in its journal. */
export function resumeHint({ run, origin }: Resumable, { here, folder, dataDir }: Place): string {
  const file = origin?.agentFile === undefined ? 'FILE' : typedWord(agentFileOf(origin))
  const isHere = origin === undefined || origin.workspace === here
  const data = dataDirFlag(isHere || dataDir === undefined ? dataDir : folder)
  const words = flagWords(origin ? flagsFrom(origin) : []).map((word) => ` ${word}`)
  const isServed = origin?.command === 'serve'
  const prompt = run.status === 'suspended' || run.status === 'running' ? '' : ' "…"'
  const command = isServed ? `troupe serve${data}` : `troupe run ${file}${prompt} --resume ${run.treeId}${data}${words.join('')}`
  return isHere ? command : `cd ${typedWord(origin.workspace)} && ${command}`
}

/** Relative to the workspace if the file is inside it. */
export function agentFileOf({ workspace, agentFile, command }: RunOrigin): string {
  if (command === 'serve') return 'troupe serve'
  return agentFile === undefined ? 'a program' : pathIn(workspace, agentFile)
}

const flagsFrom = ({ workspace, flags = [] }: RunOrigin): readonly RunFlag[] =>
  flagsToRepeat(flags).map(({ name, value }) => ({ name, value: name === 'config' ? pathIn(workspace, value) : value }))

function pathIn(workspace: string, file: string): string {
  const path = relative(workspace, file)
  return path.startsWith('..') || isAbsolute(path) ? file : path
}
