import type { Stats } from 'node:fs'
import { lstat, mkdir, stat, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { nodeConfigFiles, statesOf, trustFiles } from '../agents/index.ts'
import { type Problem, TroupeError } from '../contracts/index.ts'
import { shellWord } from '../util/shell-word.ts'
import type { InitInvocation } from './agents-invocations.ts'
import { trustPlaceOf } from './config-setup.ts'
import { exitCodes } from './exit-codes.ts'
import type { Host } from './host.ts'
import { projectFiles } from './init-project.ts'
import { printable } from './paint.ts'
import { tellNotice } from './tell.ts'
import { isAgreed, mayAsk } from './trust-question.ts'

/** `troupe init`: all of it is created, or nothing. */
export async function initCommand({ folder, isSure, wishes }: InitInvocation, host: Host): Promise<number> {
  const root = resolve(folder)
  await refuseToOverwrite(root)
  const names = Object.keys(projectFiles)
  if (!isSure && mayAsk(host) && !(await isAgreed(`Create ${names.length} files in ${printable(root)}? [y/N] `, host))) {
    await tellNotice('Nothing was created.', { host, wishes })
    return exitCodes.done.code
  }
  for (const name of names) await create(join(root, name), projectFiles[name] ?? '')
  const created = names.map((name) => join(root, name))
  const trusted = await statesOf(nodeConfigFiles, [join(root, '.ai-agent.json')])
  await trustFiles(trustPlaceOf(host), trusted, { by: 'init', at: host.now() })
  await host.stdout.lines(created.map((path) => `created ${printable(shown(path))}`))
  const change = root === process.cwd() ? '' : `cd ${shellWord(shown(root))} && `
  for (const line of [
    `Try it: ${change}troupe run trip.ai "Ask the scout what there is to see in Bergen, then ask the writer for a weekend plan"`,
    `Or:     ${change}troupe run notes.ai "Search the files for funicular"`,
  ])
    await tellNotice(line, { host, wishes })
  return exitCodes.done.code
}

/** What stands in the way is told before anything is created. A link counts as itself: nothing is written where it leads. */
async function refuseToOverwrite(root: string): Promise<void> {
  const itself = await stat(root).catch(() => undefined)
  if (itself ? !itself.isDirectory() : await lookAt(root))
    throw new TroupeError('usage', `${root} is not a folder.`, { remedy: 'Name a folder, or one that is not there yet.' })
  const problems: Problem[] = []
  const tell = (name: string, message: string): void =>
    void problems.push({ place: shown(join(root, name)), message, remedy: 'Choose another folder: troupe init DIR' })
  for (const name of new Set(Object.keys(projectFiles).map((file) => dirname(file)))) {
    const folder = name === '.' ? undefined : await lookAt(join(root, name))
    if (folder && !folder.isDirectory()) tell(name, 'It is not a folder.')
  }
  for (const name of Object.keys(projectFiles)) if (await lookAt(join(root, name))) tell(name, 'It is there already.')
  if (problems.length > 0) throw new TroupeError('usage', 'Nothing was created, because some of it is there already.', { problems })
}

/** What is there, without following it; nothing where there is nothing. */
const lookAt = (path: string): Promise<Stats | undefined> => lstat(path).catch(() => undefined)

/** Never over a file that came into being meanwhile. An agent is a program. */
async function create(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text, { flag: 'wx', mode: text.startsWith('#!') ? 0o755 : 0o644 })
}

function shown(path: string): string {
  const inside = relative(process.cwd(), path)
  return inside === '' ? '.' : inside.startsWith('..') ? path : inside
}
