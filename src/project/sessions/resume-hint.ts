import { isAbsolute, relative } from 'node:path'
import type { RunFlag, RunOrigin, TreeEntry } from '../../contracts/index.ts'
import { typedWord } from '../../util/typed-word.ts'
import { flagsToRepeat } from './stored-settings.ts'

export const dataDirFlag = (dataDir: string | undefined): string => (dataDir === undefined ? '' : ` --data-dir ${typedWord(dataDir)}`)

/** Joined with `=` where the value looks like a flag. */
export const flagWords = (flags: readonly RunFlag[]): readonly string[] =>
  flags.map(({ name, value }) => `--${name}${value.startsWith('-') ? '=' : ' '}${typedWord(value)}`)

/** Where the user will type the commands. */
export interface CommandPlace {
  /** The working directory. `undefined`: that of a program, which has none. */
  readonly here: string | undefined
  /** The data folder. */
  readonly folder: string
  /** `undefined`: it is the default. */
  readonly dataDir: string | undefined
}

interface Resumable {
  readonly run: Pick<TreeEntry, 'treeId' | 'status'>
  readonly origin?: RunOrigin | undefined
}

/** Resumes the session in its workspace with its original flags. A server and a chat continue their own sessions. For `troupe run`, an ended session needs a prompt. Models and limits are in its journal. */
export function resumeHint({ run, origin }: Resumable, { here, folder, dataDir }: CommandPlace): string {
  const file = origin?.agentFile === undefined ? 'FILE' : typedWord(agentFileOf(origin))
  const isHere = origin === undefined || origin.workspace === here
  const data = dataDirFlag(isHere || dataDir === undefined ? dataDir : folder)
  const words = flagWords(origin ? flagsFrom(origin) : []).map((word) => ` ${word}`)
  const prompt = run.status === 'suspended' || run.status === 'running' ? '' : ' "…"'
  const more = `--resume ${run.treeId}${data}${words.join('')}`
  const command =
    { serve: `troupe serve${data}`, chat: `troupe chat ${origin?.agentFile === undefined ? '' : `${file} `}${more}` }[
      origin?.command ?? ''
    ] ?? `troupe run ${file}${prompt} ${more}`
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
