import { mkdir, stat, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { nodeConfigFiles, statesOf, trustFiles } from '../agents/index.ts'
import { TroupeError } from '../contracts/index.ts'
import type { InitInvocation } from './agents-invocations.ts'
import { trustPlaceOf } from './config-setup.ts'
import { exitCodes } from './exit-codes.ts'
import type { Host } from './host.ts'
import { projectFiles } from './init-project.ts'
import { printable } from './paint.ts'
import { tellNotice } from './tell.ts'
import { isAgreed } from './trust-question.ts'

/** `troupe init`: all of it is created, or nothing. */
export async function initCommand({ folder, isSure, wishes }: InitInvocation, host: Host): Promise<number> {
  const root = resolve(folder)
  await refuseToOverwrite(root)
  const names = Object.keys(projectFiles)
  const mayAsk = host.stdin.isTTY === true && host.window === 'terminal'
  if (!isSure && mayAsk && !(await isAgreed(`Create ${names.length} files in ${printable(root)}? [y/N] `, host))) {
    await tellNotice('Nothing was created.', { host, wishes })
    return exitCodes.done.code
  }
  for (const name of names) await create(join(root, name), projectFiles[name] ?? '')
  const created = names.map((name) => join(root, name))
  const trusted = await statesOf(nodeConfigFiles, [join(root, '.ai-agent.json')])
  await trustFiles(trustPlaceOf(host), trusted, { by: 'init', at: host.now() })
  await host.stdout.lines(created.map((path) => `created ${printable(shown(path))}`))
  const change = root === process.cwd() ? '' : `cd ${shown(root)} && `
  await tellNotice(
    `Try it: ${change}troupe run trip.ai "Ask the scout what there is to see in Bergen, then ask the writer for a weekend plan"`,
    { host, wishes },
  )
  return exitCodes.done.code
}

async function refuseToOverwrite(root: string): Promise<void> {
  const there: string[] = []
  for (const name of Object.keys(projectFiles)) if (await stat(join(root, name)).catch(() => undefined)) there.push(name)
  const itself = await stat(root).catch(() => undefined)
  if (itself && !itself.isDirectory())
    throw new TroupeError('usage', `${root} is not a folder.`, { remedy: 'Name a folder, or one that is not there yet.' })
  if (there.length > 0)
    throw new TroupeError('usage', 'Nothing was created, because some of it is there already.', {
      problems: there.map((name) => ({
        place: shown(join(root, name)),
        message: 'It is there already.',
        remedy: 'Choose another folder: troupe init DIR',
      })),
    })
}

/** Never over a file that came into being meanwhile. An agent is a program. */
async function create(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text, { flag: 'wx', mode: text.startsWith('#!') ? 0o755 : 0o644 })
}

function shown(path: string): string {
  const inside = relative(process.cwd(), path)
  return inside === '' ? '.' : inside.startsWith('..') ? path : inside
}
