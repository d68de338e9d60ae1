import type { Stats } from 'node:fs'
import { lstat, open, rm, rmdir, stat } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { makeFolders, nodeConfigFileSystem, readFileStates, readTrust, type TrustPlace, trustFiles } from '../../agents/index.ts'
import { type Problem, TroupeError } from '../../contracts/index.ts'
import { messageOf } from '../../util/message-of.ts'
import { shellWord } from '../../util/shell-word.ts'
import { whyUnwritable } from '../host/data-folder.ts'
import { exitCodes } from '../host/exit-codes.ts'
import type { Host } from '../host/process-host.ts'
import type { InitInvocation } from '../options/project-invocations.ts'
import { trustPlaceOf } from '../team/load-config.ts'
import { printable } from '../terminal/paint.ts'
import { joinErrors } from '../terminal/print-errors.ts'
import { printNotice } from '../terminal/print-messages.ts'
import { isAgreed, mayAsk } from '../trust/trust-question.ts'
import { projectFiles } from './init-project.ts'

/** `troupe init`: all agents and the configuration are created, or nothing; other files that are there are kept as they are. */
export async function initCommand({ folder, isSure, display }: InitInvocation, host: Host): Promise<number> {
  const root = resolve(folder)
  const place = trustPlaceOf(host)
  const kept = await refuseToOverwrite(root)
  await refuseUnwritable(root, place)
  const names = Object.keys(projectFiles).filter((name) => !kept.includes(name))
  if (!isSure && mayAsk(host) && !(await isAgreed(`Create ${names.length} files in ${printable(root)}? [y/N] `, host))) {
    await printNotice('Nothing was created.', { host, display })
    return exitCodes.done.code
  }
  const created = names.map((name) => join(root, name))
  await createAll(root, names, async () => {
    const trusted = await readFileStates(nodeConfigFileSystem, [join(root, '.ai-agent.json')])
    await trustFiles(place, trusted, { by: 'init', at: host.now() })
  })
  await host.stdout.lines(created.map((path) => `created ${printable(shown(path))}`))
  for (const name of kept) await printNotice(await keptNotice(name, root), { host, display })
  const change = root === process.cwd() ? '' : `cd ${shellWord(shown(root))} && `
  for (const line of [
    `Try it: ${change}troupe run trip.ai "Ask the scout what there is to see in Bergen, then ask the writer for a weekend plan"`,
    `Or:     ${change}troupe run notes.ai "Search the files for funicular"`,
  ])
    await printNotice(line, { host, display })
  return exitCodes.done.code
}

/** What stands in the way is told before anything is created; answers what is kept. A link counts as itself: nothing is written where it leads. */
async function refuseToOverwrite(root: string): Promise<readonly string[]> {
  const itself = await stat(root).catch(() => undefined)
  if (itself ? !itself.isDirectory() : await lookAt(root))
    throw new TroupeError('usage', `${root} is not a folder.`, { remedy: 'Name a folder, or one that is not there yet.' })
  const problems: Problem[] = []
  const tell = (name: string, message: string): void => void problems.push({ place: shown(join(root, name)), message })
  for (const name of new Set(Object.keys(projectFiles).map((file) => dirname(file)))) {
    const folder = name === '.' ? undefined : await lookAt(join(root, name))
    if (folder && !folder.isDirectory()) tell(name, 'It is not a folder.')
  }
  const kept: string[] = []
  for (const name of Object.keys(projectFiles)) {
    if (!(await lookAt(join(root, name)))) continue
    if (isOfTeam(name)) tell(name, 'It is there already.')
    else kept.push(name)
  }
  if (problems.length === 0) return kept
  throw new TroupeError('usage', 'Nothing was created: agents and configuration are never overwritten.', {
    problems,
    remedy: 'Choose another folder: troupe init DIR',
  })
}

/** Agents and what they are configured by belong together; whatever else is made is only beside them. */
const isOfTeam = (name: string): boolean => name.endsWith('.ai') || name === '.ai-agent.json'

async function keptNotice(name: string, root: string): Promise<string> {
  const said = `kept ${shown(join(root, name))}`
  if (name !== '.gitignore') return said
  const content = (await nodeConfigFileSystem.read(join(root, name)).catch(() => undefined)) ?? ''
  const text = typeof content === 'string' ? content : new TextDecoder().decode(content)
  return text.includes(keyFile) ? said : `${said}; add this line to keep keys out of Git: ${keyFile}`
}

const keyFile = '.ai-agent.env'

/** What is there, without following it; nothing where there is nothing. */
const lookAt = (path: string): Promise<Stats | undefined> => lstat(path).catch(() => undefined)

/** Files, and the list of trust, are looked at before the first file is made. */
async function refuseUnwritable(root: string, place: TrustPlace): Promise<void> {
  const wrong: TroupeError[] = []
  const why = whyUnwritable(root)
  if (why !== undefined) wrong.push(notCreated(root, `nothing can be made there: ${why}`))
  const whyUntrusted = whyUnwritable(dirname(place.path))
  if (whyUntrusted !== undefined) {
    const remedy = 'See that its folder can be written, or name another with XDG_STATE_HOME.'
    const message = `the list of trusted files cannot be stored there: ${whyUntrusted}`
    wrong.push(new TroupeError('config_invalid', 'Nothing was created.', { problems: [{ place: place.path, message, remedy }] }))
  }
  if (wrong.length > 0) throw joinErrors(wrong)
  await readTrust(place)
}

const notCreated = (path: string, message: string, cause?: unknown): TroupeError =>
  new TroupeError('usage', 'Nothing was created.', {
    problems: [{ place: shown(path), message, remedy: 'Choose another folder: troupe init DIR' }],
    cause,
  })

/** All files, and what is to be done with them; where any of that fails, what was made is taken away again. */
async function createAll(root: string, names: readonly string[], then: () => Promise<void>): Promise<void> {
  const made: Made = { files: [], folders: [] }
  try {
    for (const name of names) await create(join(root, name), projectFiles[name] ?? '', made)
    await then()
  } catch (error) {
    for (const file of made.files) await rm(file, { force: true }).catch(() => {})
    // Not where somebody has put something into it meanwhile.
    for (const folder of made.folders.toReversed()) await rmdir(folder).catch(() => {})
    throw error
  }
}

interface Made {
  readonly files: string[]
  readonly folders: string[]
}

/** Never over a file that came into being meanwhile. An agent is a program. */
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
