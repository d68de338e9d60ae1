import type { Stats } from 'node:fs'
import { lstat, open, rm, rmdir, stat } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { type Problem, TroupeError } from '../../contracts/index.ts'
import {
  makeFolders,
  nodeConfigFileSystem,
  readFileStates,
  trustFiles,
  trustPathOf,
  trustPlaceOf,
  whyUnwritable,
} from '../../project/index.ts'
import { joinErrors } from '../../util/join-errors.ts'
import { messageOf } from '../../util/message-of.ts'
import { shellWord } from '../../util/shell-word.ts'
import type { InitInvocation } from '../arguments/project-invocations.ts'
import { exitCodes } from '../terminal/exit-codes.ts'
import { printNotice } from '../terminal/print-messages.ts'
import { printable } from '../terminal/printable.ts'
import type { Host } from '../terminal/process-host.ts'
import { projectFiles } from './init-project.ts'
import { askYesNo, mayAsk } from './trust/trust-question.ts'

/** `troupe init`: creates all agents and the configuration, or nothing. Keeps other files that exist. */
export async function initCommand({ folder, isConfirmed, display }: InitInvocation, host: Host): Promise<number> {
  const root = resolve(folder)
  const kept = await checkNoOverwrite(root)
  await checkWritable(root, host)
  const names = Object.keys(projectFiles).filter((name) => !kept.includes(name))
  if (!isConfirmed && mayAsk(host) && !(await askYesNo(`Create ${names.length} files in ${printable(root)}? [y/N] `, host))) {
    await printNotice('Nothing was created.', { host, display })
    return exitCodes.done.code
  }
  const created = names.map((name) => join(root, name))
  await createAll(root, names, async () => {
    const trusted = await readFileStates(nodeConfigFileSystem, [join(root, '.ai-agent.json')])
    await trustFiles(trustPlaceOf(host), trusted, { by: 'init', at: host.now() })
  })
  await host.stdout.lines(created.map((path) => `created ${printable(shown(path))}`))
  for (const name of kept) await printNotice(await keptNotice(name, root), { host, display })
  const change = root === process.cwd() ? '' : `cd ${shellWord(shown(root))} && `
  for (const line of [
    `Try it: ${change}troupe run trip.ai "Ask the scout for sights in Bergen, then ask the writer for a weekend plan"`,
    `Or:     ${change}troupe run notes.ai "Search the files for funicular"`,
  ])
    await printNotice(line, { host, display })
  return exitCodes.done.code
}

/** Throws if a file would be overwritten, and returns the names of files to keep. Does not follow links. */
async function checkNoOverwrite(root: string): Promise<readonly string[]> {
  const itself = await stat(root).catch(() => undefined)
  if (itself ? !itself.isDirectory() : await statOf(root))
    throw new TroupeError('usage', `${root} is not a folder.`, { remedy: 'Name a folder; troupe init creates it if it does not exist.' })
  const problems: Problem[] = []
  const report = (name: string, message: string): void => void problems.push({ place: shown(join(root, name)), message })
  for (const name of new Set(Object.keys(projectFiles).map((file) => dirname(file)))) {
    const folder = name === '.' ? undefined : await statOf(join(root, name))
    if (folder && !folder.isDirectory()) report(name, 'This is not a folder.')
  }
  const kept: string[] = []
  for (const name of Object.keys(projectFiles)) {
    if (!(await statOf(join(root, name)))) continue
    if (isAgentOrConfig(name)) report(name, 'This file already exists.')
    else kept.push(name)
  }
  if (problems.length === 0) return kept
  throw new TroupeError('usage', 'Nothing was created: agents and configuration are never overwritten.', {
    problems,
    remedy: 'Choose another folder: troupe init DIR',
  })
}

/** The new agents and their configuration belong together: if one of them exists, none is created. */
const isAgentOrConfig = (name: string): boolean => name.endsWith('.ai') || name === '.ai-agent.json'

async function keptNotice(name: string, root: string): Promise<string> {
  const notice = `kept ${shown(join(root, name))}`
  if (name !== '.gitignore') return notice
  const content = (await nodeConfigFileSystem.read(join(root, name)).catch(() => undefined)) ?? ''
  const text = typeof content === 'string' ? content : new TextDecoder().decode(content)
  return text.includes(keyFile) ? notice : `${notice}; add this line to keep keys out of Git: ${keyFile}`
}

const keyFile = '.ai-agent.env'

/** Does not follow links. */
const statOf = (path: string): Promise<Stats | undefined> => lstat(path).catch(() => undefined)

/** Checks the folder and the list of trusted files before the first file is created. */
async function checkWritable(root: string, host: Host): Promise<void> {
  const errors: TroupeError[] = []
  const why = whyUnwritable(root)
  if (why !== undefined) errors.push(notCreated(root, `files cannot be created there: ${why}`))
  const place = trustPathOf(host)
  const whyUntrusted = whyUnwritable(dirname(place))
  if (whyUntrusted !== undefined) {
    const remedy = 'Make its folder writable, or set XDG_STATE_HOME to another folder.'
    const message = `the list of trusted files cannot be stored there: ${whyUntrusted}`
    errors.push(new TroupeError('config_invalid', 'Nothing was created.', { problems: [{ place, message, remedy }] }))
  }
  if (errors.length > 0) throw joinErrors(errors)
  await trustPlaceOf(host).store.list()
}

const notCreated = (path: string, message: string, cause?: unknown): TroupeError =>
  new TroupeError('usage', 'Nothing was created.', {
    problems: [{ place: shown(path), message, remedy: 'Choose another folder: troupe init DIR' }],
    cause,
  })

/** Creates all files, then calls `then`. If any of it fails, removes what was created. */
async function createAll(root: string, names: readonly string[], then: () => Promise<void>): Promise<void> {
  const made: Made = { files: [], folders: [] }
  try {
    for (const name of names) await create(join(root, name), projectFiles[name] ?? '', made)
    await then()
  } catch (error) {
    for (const file of made.files) await rm(file, { force: true }).catch(() => {})
    // `rmdir` keeps folders that another process has put files into.
    for (const folder of made.folders.toReversed()) await rmdir(folder).catch(() => {})
    throw error
  }
}

interface Made {
  readonly files: string[]
  readonly folders: string[]
}

/** Fails if the file exists by now. Files with `#!` become executable. */
async function create(path: string, text: string, { files, folders }: Made): Promise<void> {
  try {
    await makeFolders(dirname(path), { made: folders })
    const file = await open(path, 'wx', text.startsWith('#!') ? 0o755 : 0o644)
    files.push(path)
    await file.writeFile(text).finally(() => file.close())
  } catch (error) {
    throw notCreated(path, messageOf(error), error)
  }
}

function shown(path: string): string {
  const inside = relative(process.cwd(), path)
  return inside === '' ? '.' : inside.startsWith('..') ? path : inside
}
